"""Annotations in the forms of other benchmarks with features: checked, trained on, scored and written back."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from feature_settings import write_arrays
from planted import plant
from running import snakemake

from verified.__main__ import main
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified_field.windows import evaluate_files

FIXTURE = Path(__file__).parent / "fixtures" / "qvhighlights"
RANGES = ("full", "long", "middle", "short")
"""Figures of windows; those of highlights rest on saliency, which no person gave to what is written back."""
RUN = "results/given/mine/retrieval/xml/cog/seed-2018/cog"


def run(folder: Path, capsys, spans: dict, form: str) -> dict:
    """The metrics of a run on the files of `folder`/mine, and its export in a form."""
    files = str(folder / "mine")
    source = {"kind": "released", "collection": "mine", "splits": ["train", "val"], "released_dir": files}
    mine = {"title": "Mine", "source": source | {"features_dir": files}}
    mine["spans"] = {"selection_split": "val", "test_split": "val", **spans}
    training = {"xml": {"epochs": 1, "batch": 8, "options": {"hidden": 24, "heads": 3}}}
    values = {"name": "given", "datasets": {"mine": mine}, "retrieval": {"resamples": 100, "training": training}}
    (folder / "given.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", "--configfile", "given.yaml"]) == 0
    assert "video, text-cog: features of" in capsys.readouterr().out
    done = snakemake(
        folder, "--cores", "1", "results/tables", f"results/given/mine/export/{form}", config=folder / "given.yaml"
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return read_json(folder / RUN / "metrics.json")["metrics"]


def compare(capsys, metrics: dict) -> None:
    """`verified evaluate` gives the metrics of the run."""
    truth = "results/given/mine/annotations/cog/val.jsonl"
    assert main(["evaluate", truth, f"{RUN}/submission.json.gz", "--nms-threshold", "0.6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for task in ("VCMR", "SVMR", "VR"):
        assert found[task] == {name: metrics[task][name.replace("-", "/")] for name in found[task]}


@pytest.mark.slow
def test_qvhighlights(tmp_path, capsys, monkeypatch):
    """Scored by its own annotations, and these, written back, give the official evaluator's figures."""
    monkeypatch.chdir(tmp_path)
    draw, mine = np.random.default_rng(5), tmp_path / "mine"
    val = read_jsonl(FIXTURE / "truth.jsonl")
    train = [{**row, "qid": row["qid"] + 2000, "vid": f"t{row['vid']}"} for row in val[:24]]
    for split, rows in (("train", train), ("val", val)):
        write_jsonl(mine / f"{split}.jsonl", rows)
    videos = {row["vid"]: draw.normal(size=(math.ceil(row["duration"] / 2), 9)).astype("f4") for row in train + val}
    words = {str(row["qid"]): draw.normal(size=(len(row["query"].split()), 7)).astype("f4") for row in train + val}
    write_arrays(mine / "video.h5", videos, dim=9)
    write_arrays(mine / "text-cog.h5", words, dim=7)
    metrics = run(tmp_path, capsys, {"clip_seconds": 2, "max_context_clips": 75, "max_pred_clips": 75}, "qvhighlights")
    back = tmp_path / "results/given/mine/export/qvhighlights/val.jsonl"
    submission = tmp_path / RUN / "submission.json.gz"
    ours, of_back = (evaluate_files(truth, submission).result for truth in (mine / "val.jsonl", back))
    assert ours == of_back
    first = {threshold: metrics["SVMR"][f"{threshold}/r1"] for threshold in ("0.5", "0.7")}
    assert {threshold: ours["full"]["MR-R1"][threshold] for threshold in first} == first and min(first.values()) > 0
    compare(capsys, metrics)
    row = next(line for line in (tmp_path / "results/tables/main-5.md").read_text().splitlines() if "| XML |" in line)
    assert f" {first['0.5']:.2f} [" in row and f" {first['0.7']:.2f} [" in row
    official = read_json(FIXTURE / "expected.json")
    found = evaluate_files(back, FIXTURE / "submission.jsonl").result
    assert {name: found[name] for name in RANGES} == {name: official[name] for name in RANGES}


@pytest.mark.slow
def test_charades_sta(tmp_path, capsys, monkeypatch):
    """Scored by its text, which is written back as it was."""
    monkeypatch.chdir(tmp_path)
    mine, videos, words = tmp_path / "mine", {}, {}
    mine.mkdir()
    for seed, split in enumerate(("train", "val"), start=1):
        planted = plant(tmp_path, 12 + 5 * seed, seed=seed)
        rows = read_jsonl(planted.annotations)
        lines = [f"{row['video']} {row['time'][0]} {row['time'][1]}##{row['cog_desc']}\n" for row in rows]
        (mine / f"{split}.txt").write_text("".join(lines))
        lengths = {row["video"]: row["duration"] for row in rows}
        (mine / f"{split}.csv").write_text("id,length\n" + "".join(f"{key},{n}\n" for key, n in lengths.items()))
        features = FeatureFile(planted.text)
        words |= {str(len(words) + n): features[str(row["desc_id"])] for n, row in enumerate(rows)}
        videos |= {key: FeatureFile(planted.video)[key] for key in lengths}
    write_arrays(mine / "video.h5", videos)
    write_arrays(mine / "text-cog.h5", words)
    metrics = run(tmp_path, capsys, {"max_context_clips": 16}, "charades-sta")
    compare(capsys, metrics)
    assert metrics["SVMR"]["0.5/r1"] > 0
    for split in ("train", "val"):
        back = tmp_path / "results/given/mine/export/charades-sta" / f"{split}.txt"
        assert back.read_text() == (mine / f"{split}.txt").read_text()
