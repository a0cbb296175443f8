"""The audit of a run: its job, and the tables of it."""

import numpy as np
import pytest
from given import fig
from script_run import script_run

from verified.benchmark.vcmr.results import write_per_query
from verified.config import load
from verified.io.fig import write_fig
from verified.io.jsonl import read_json, read_jsonl, write_json
from verified.statistics.embeddings import write_embeddings
from verified.tables.collect import Collection, Run
from verified.tables.shown import Shown, shown_values
from verified_lab.config import Audit
from verified_lab.tables import audit as audit_tables

DEMO = {"name": "demo", "datasets": {"demo": {"title": "Demo-FIG", "source": {"kind": "demo"}}}, "audit": {}}
QUERIES = 60


def annotations(folder):
    """Fine captions of thirty videos, two each, of which the last says in words what the first says."""
    rows = [
        fig(n + 1, f"v{n // 2:02d}", 4.0 * (n % 2), 4.0 * (n % 2) + 3, duration=12.0, fig_desc=f"caption {text}")
        for n, text in enumerate([*range(QUERIES - 1), QUERIES - 2])
    ]
    rows[0]["time"] = [4.0, 12.5]
    for split, of_split in (("train", rows[:20]), ("test", rows[20:])):
        (folder / "annotations").mkdir(exist_ok=True)
        write_fig(folder / "annotations" / f"{split}.jsonl", of_split)
    texts = sorted({row["fig_desc"] for row in rows})
    write_embeddings(folder / "embeddings.npz", texts, np.eye(len(texts), dtype=np.float32), "e", "w")
    videos = {row["video"]: number for number, row in enumerate(rows)}
    files = []
    for seed in range(3):
        lists = [
            {"desc_id": row["desc_id"], "predictions": [[videos[row["video"]], *row["time"], 1.0]]} for row in rows[20:]
        ]
        lists[4]["predictions"][0][1:3] = 8.0, 11.0 + seed / 10
        files.append(folder / f"seed-{seed}.json")
        write_json(files[-1], {"video2idx": videos, "SVMR": lists})
    hashes = {name: f"{number:016x}" * 3 for name, number in (("v00", 2**40 - 1), ("v29", 2**40 - 2))}
    write_json(folder / "hashes.json", hashes)
    return rows, [str(file) for file in files]


@pytest.fixture
def audited(tmp_path):
    """What the job writes, and the rows and submissions that it read."""
    rows, files = annotations(tmp_path)
    given = [str(tmp_path / "annotations" / f"{split}.jsonl") for split in ("train", "test")]
    made = {name: str(tmp_path / "audit" / name) for name in ("findings.jsonl", "summary.json")}
    inputs = {"annotations": given, "submissions": files}
    params = {"audit": Audit().model_dump(), "test_split": "test"}
    script_run(
        "../extensions/lab/scripts/audit_annotations.py",
        "audit_annotations",
        {**inputs, "hashes": [str(tmp_path / "hashes.json")], "embeddings": str(tmp_path / "embeddings.npz")},
        {"findings": made["findings.jsonl"], "summary": made["summary.json"]},
        params,
        {"dataset": "demo"},
    )()
    return made, rows, files


def test_the_job_finds_what_is_there_and_counts_it(audited):
    made, *_ = audited
    found = {(row["id"], row["check"]) for row in read_jsonl(made["findings.jsonl"])}
    assert found == {
        ("1", "outside"), ("25", "disagreement"),
        ("59", "ambiguous"), ("60", "ambiguous"), ("59", "leak"), ("60", "leak"),
    }  # fmt: skip
    summary = read_json(made["summary.json"])
    assert summary["splits"]["train"]["clean"] == 19 and summary["splits"]["test"]["clean"] == 37
    assert summary["all"]["checks"]["leak"] == 2 and len(summary["runs"]) == 3


def test_tables_show_numbers_and_recall_on_clean_queries(audited, tmp_path, monkeypatch):
    _, rows, _ = audited
    settings = load({**DEMO, "retrieval": {"models": ["xml"]}})
    assert {path.rpartition("/")[2] for path in audit_tables.inputs(settings)} == {"findings.jsonl", "summary.json"}
    assert audit_tables.inputs(load({key: value for key, value in DEMO.items() if key != "audit"})) == []
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "results" / "demo" / "audit"
    place.parent.mkdir(parents=True)
    (tmp_path / "audit").rename(place)
    right = np.array([row["desc_id"] not in (25, 59, 60) for row in rows[20:]], float)
    folder = tmp_path / "results" / "demo" / "retrieval" / "xml" / "fig" / "seed-1" / "fig"
    numbers = np.array([row["desc_id"] for row in rows[20:]])
    videos = [row["video"] for row in rows[20:]]
    write_per_query(folder / "per_query.npz", numbers, videos, dict.fromkeys(audit_tables.METRICS, right))
    described = {"dataset": "demo", "model": "xml", "trained_on": "fig", "tested_on": "fig", "seed": 1}
    collection = Collection([], [])
    collection.runs["demo", "xml", "fig", "fig"] = Run([{**described, "split": "test"}], [folder])
    files = audit_tables.inputs(settings)
    numbers_, clean = audit_tables.tables(Shown(**shown_values(settings)), collection, files)
    assert numbers_.rows[1][:3] == ("Demo-FIG", "test", 40) and numbers_.rows[1][-1] == 37
    assert [tuple(row[4:6]) for row in clean.rows] == [("all", 40), ("clean", 37)]
    assert [getattr(row[6], "value", row[6]) for row in clean.rows] == [92.5, 100.0]
