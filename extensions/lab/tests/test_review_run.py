"""Decisions of reviewers in a finished run: the annotations, and an export of them."""

import shutil
from collections import Counter

import pytest
import yaml
from running import ended_well
from small_review import decision_row

from verified.io.jsonl import read_json, read_jsonl, write_jsonl

pytestmark = pytest.mark.slow


def judgement(row: dict, score: dict, right: bool) -> dict:
    """What a reviewer says of the caption of an annotation, whose candidate is `score`."""
    moment = {**row, "start": row["time"][0], "end": row["time"][1], "caption": row["cog_desc"]}
    what = {"what": "accept"} if right else {"what": "reject", "reason": "wrong"}
    return decision_row(moment, score, dataset="nano", **what)


def test_decisions_and_a_measured_threshold_select_what_an_export_holds(nano, tmp_path):
    reported = tmp_path / "run"
    shutil.copytree(nano, reported, symlinks=True)
    base = reported / "results" / "nano"
    rows = [row for split in ("train", "val", "test") for row in read_jsonl(base / f"annotations/fig/{split}.jsonl")]
    rows.sort(key=lambda row: -row["fig_desc_score"])
    scores = {
        (score["desc_id"], score["type"], score["caption"]): score
        for path in sorted(base.glob("evaluator/scores/*.jsonl"))
        for score in read_jsonl(path)
    }
    reviewed = [*rows[:12], *rows[-6:]]  # the best are right, the worst are not: the twelfth score is the threshold
    decisions = [
        judgement(row, scores[row["desc_id"], row["fig_desc_type"], row["fig_desc"]], place < 12)
        for place, row in enumerate(reviewed)
    ]
    write_jsonl(reported / "ann.jsonl", decisions)
    review = {"decisions": ["ann.jsonl"], "min_precision": 1.0}
    layer = {"review": review, "annotations": {"best": 2, "otherwise": "coarse"}, "export": {"forms": ["hugging-face"]}}
    (reported / "layer.yaml").write_text(yaml.safe_dump(layer), encoding="utf-8")
    targets = ["export", "review", "results/nano/annotations/review/tables.json"]
    ended_well(reported, str(reported / "layer.yaml"), "--cores", "2", *targets)
    shown = "".join(page.read_text(encoding="utf-8") for page in base.glob("review/pages/page-*.html"))
    assert all(f'"{decision["moment"]}"' in shown for decision in decisions), "pages name moments as decisions do"

    least = rows[11]["fig_desc_score"]
    selections = [read_json(path) for path in sorted((base / "annotations/selection").glob("*.json"))]
    assert [part["min_score"] for part in selections] == pytest.approx([least] * 3)
    counts = sum((Counter(part["counts"]) for part in selections), Counter())
    below = sum(row["fig_desc_score"] < least for row in rows[12:-6])
    assert counts["accepted"] == 12 and counts["rejected"] == 6 and counts["below-min-score"] == below
    assert counts["fell-back"] == 6 + below
    selected = [
        row for split in ("train", "val", "test") for row in read_jsonl(base / f"annotations/fig/{split}.jsonl")
    ]
    assert len(selected) == len(rows) and sum(row["fig_desc_type"] == "coarse" for row in selected) == 6 + below
    further = [entry for row in selected for entry in row.get("further", ())]
    assert all(entry["fig_desc_score"] >= least for entry in further)

    manifest = read_json(base / "export" / "hugging-face" / "manifest.json")
    assert sum(split["captions"] for split in manifest["splits"].values()) == len(rows) + len(further)
