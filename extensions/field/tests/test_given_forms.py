"""Annotations in the forms of other benchmarks with features: checked, trained on, scored and written back."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from feature_settings import write_arrays
from running import ended_well

from verified.__main__ import main
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified_field.windows import evaluate_files

FIXTURE = Path(__file__).parent / "fixtures" / "qvhighlights"
RANGES = ("full", "long", "middle", "short")
"""Figures of windows; those of highlights rest on saliency, which no person gave to what is written back."""
RUN = "results/given/mine/retrieval/xml/cog/seed-2018/cog"


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
    source = {"kind": "released", "collection": "mine", "splits": ["train", "val"]}
    source |= {"released_dir": str(mine), "features_dir": str(mine)}
    spans = {"selection_split": "val", "test_split": "val"}
    spans |= {"clip_seconds": 2, "max_context_clips": 75, "max_pred_clips": 75}
    datasets = {"mine": {"title": "Mine", "source": source, "spans": spans}}
    training = {"xml": {"epochs": 1, "batch": 8, "options": {"hidden": 24, "heads": 3}}}
    values = {"name": "given", "datasets": datasets, "retrieval": {"resamples": 100, "training": training}}
    (tmp_path / "given.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", "--configfile", "given.yaml"]) == 0
    assert "video, text-cog: features of" in capsys.readouterr().out
    targets = ("results/tables", "results/given/mine/export/qvhighlights")
    ended_well(tmp_path, "--cores", "1", *targets, config=tmp_path / "given.yaml")
    metrics = read_json(tmp_path / RUN / "metrics.json")["metrics"]
    back = tmp_path / "results/given/mine/export/qvhighlights/val.jsonl"
    submission = tmp_path / RUN / "submission.json.gz"
    ours, of_back = (evaluate_files(truth, submission).result for truth in (mine / "val.jsonl", back))
    assert ours == of_back
    first = {threshold: metrics["SVMR"][f"{threshold}/r1"] for threshold in ("0.5", "0.7")}
    assert {threshold: ours["full"]["MR-R1"][threshold] for threshold in first} == first and min(first.values()) > 0
    truth = "results/given/mine/annotations/cog/val.jsonl"
    assert main(["evaluate", truth, f"{RUN}/submission.json.gz", "--nms-threshold", "0.6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for task in ("VCMR", "SVMR", "VR"):
        assert found[task] == {name: metrics[task][name.replace("-", "/")] for name in found[task]}
    row = next(line for line in (tmp_path / "results/tables/main-5.md").read_text().splitlines() if "| XML |" in line)
    assert f" {first['0.5']:.2f} [" in row and f" {first['0.7']:.2f} [" in row
    official = read_json(FIXTURE / "expected.json")
    found = evaluate_files(back, FIXTURE / "submission.jsonl").result
    assert {name: found[name] for name in RANGES} == {name: official[name] for name in RANGES}
