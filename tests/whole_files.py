"""For each kind of file that commands read: a folder of files without a fault, and the commands that read them."""

import gzip
import importlib
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import whole_sources
import whole_truths
from export.test_export_forms import ABOUT, written
from given import annotations
from ledger_rows import put_all, row_of
from people.answered import STUDY, answer_file, study
from running import PROJECT
from tvr_lists import COUNT, lists

from verified.export.collection import collect
from verified.export.forms import FORMS
from verified.io.fig import read_splits
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_json, write_jsonl
from verified.lmm.cassette import export, load
from verified.lmm.ledger import Ledger
from verified.runtime.checksums import write_checksums
from verified.tables.readme import COLUMNS, read_rows, readme_figures
from verified.tables.write import TIDY


def evaluate_files(folder):
    truth = [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(COUNT)]
    write_jsonl(folder / "truth.jsonl", truth)
    (folder / "submission.json.gz").write_bytes(lists(lambda n: n < 5))
    (folder / "plain.json").write_bytes(gzip.decompress(lists(lambda n: n < 7)))
    return [
        ["evaluate", "truth.jsonl", "submission.json.gz", "--nms-threshold", "0.5", "--json"],
        ["evaluate", "truth.jsonl", "plain.json", "--partial"],
        ["compare", "truth.jsonl", "submission.json.gz", "plain.json", "--output", "out"],
    ]


def annotations_files(folder):
    (folder / "fig.jsonl").write_bytes(annotations(0))
    return [["lint", "fig.jsonl", "--rows", "3"], ["lint", "fig.jsonl", "--json"]]


def features_files(folder):
    draw = np.random.default_rng(1)
    movie = draw.normal(size=(60, 8)).astype(np.float32)
    write_features(folder / "movies.h5", {"dim": 8, "clip_seconds": 1.0}, [("f", movie, {}), ("g", movie * 2, {})])
    write_features(folder / "clips.h5", {"dim": 8, "clip_seconds": 1.0}, [("c", movie[20:40], {})])
    write_jsonl(folder / "videos.jsonl", [{"video": "f", "duration": 60.0}, {"video": "g", "duration": 60.0}])
    return [["lint", "movies.h5", "--videos-file", "videos.jsonl"], ["lint", "clips.h5"]]


def study_files(folder):
    key = study()
    write_json(folder / "key.json", key)
    names = [f"{participant}.json" for participant in range(1, 11)]
    for participant, name in enumerate(names, start=1):
        write_json(folder / name, answer_file(STUDY, key, participant))
    return [["study", "--collect", *names, "--key", "key.json", "--raters", "1"]]


def refresh_checksums(folder):
    """Make the checksums of every file and folder that has them anew."""
    for checksum_file in sorted(folder.rglob(".*.checksums"), reverse=True):  # of an index, one a file
        path = checksum_file.with_name(checksum_file.name[1:].removesuffix(".checksums"))
        if path.exists():
            write_checksums(path)


def ledger_files(folder):
    with Ledger(folder / "ledger") as ledger:
        put_all(ledger, [row_of(number, "ok" if number < 10 else "invalid") for number in range(12)])
        export(ledger, folder / "calls.parquet")
    given = ["--ledger", "ledger"]
    return [
        ["ledger", "stats", *given, "--json"],
        ["ledger", "verify", *given],
        ["ledger", "export", *given, "--output", "new.parquet"],
        ["ledger", "forget", *given, "--status", "invalid"],
        read_cassette,
    ]


def read_cassette():
    """As the jobs of a run do whose configuration names a cassette."""
    with Ledger("fresh") as ledger:
        load(ledger, "calls.parquet")


def table_files(folder):
    row = {"table": "main-4", "method": "XML", "value": 20.5, "low": 18, "high": 23, "spread": 1.2, "trainings": 3}
    rows = [{**row, "task": task, "metric": metric} for task, metric in COLUMNS]
    table = pd.DataFrame(rows, columns=TIDY, dtype=object)
    (folder / "all.csv").write_text(table.to_csv(index=False))
    (folder / "README.md").write_text(readme_figures(read_rows(folder / "all.csv")))
    return [["dev", "readme", "."], ["dev", "readme", ".", "--check", "README.md", "--margin", "5"]]


def export_files(folder):
    for number, split in enumerate(("train", "val", "test")):
        (folder / f"{split}.jsonl").write_bytes(annotations(6 * number))
    return [export_of(form) for form in FORMS]


def export_of(form):
    """The job that writes one form from the files of all splits."""

    def write():
        about = ABOUT | {"title": "x"}
        found = read_splits([f"{split}.jsonl" for split in ("train", "val", "test")])
        written(form, Path("out"), collect(found, ("train", "val", "test"), about))

    write.__name__ = f"export {form}"
    return write


def configuration_files(folder):
    shutil.copy(PROJECT / "config" / "nano.yaml", folder / "c.yaml")
    return [["check", "--print-config", "--configfile", "c.yaml"]]


ADDED = [importlib.import_module(file.stem) for file in sorted(PROJECT.glob("extensions/*/tests/whole_*.py"))]
"""The kinds of extensions."""
KINDS = (
    evaluate_files,
    annotations_files,
    features_files,
    study_files,
    ledger_files,
    table_files,
    export_files,
    configuration_files,
    *whole_sources.KINDS,
    *whole_truths.KINDS,
    *(kind for module in ADDED for kind in module.KINDS),
)
