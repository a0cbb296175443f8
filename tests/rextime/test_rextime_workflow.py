"""The suite through Snakemake from a file of captions alone: no data set, no video; counts that reconcile; edits."""

import csv
import json

import pytest
from running import snakemake

from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl

COLOURS = ("red", "blue", "pink", "green", "white")
VERBS = ("bounces", "grows", "moves to the left", "vanishes", "circles around", "shrinks", "moves up")
CONFIG = """
name: across
rextime:
  sources:
    captions: {form: captions, annotations: captions.json, split: val}
  released: {given: given.jsonl}
  submissions: {all right: {file: right.jsonl, questions: given}}
"""


def captions(videos: int) -> dict:
    described = {
        f"v{video}": {
            "duration": 12.0,
            "timestamps": [[4.0 * number, 4.0 * number + 3.5] for number in range(3)],
            "sentences": [
                f"a {COLOURS[video % 5]} {('ball', 'box', 'star')[number]} {VERBS[(video + number) % 7]}"
                for number in range(3)
            ],
        }
        for video in range(videos)
    }
    return described | {"sparse": {"duration": 99.0, "timestamps": [[0, 3]], "sentences": ["a ball grows"]}}


def test_tables_from_a_file_of_captions(tmp_path):
    write_json(tmp_path / "captions.json", captions(12))
    (tmp_path / "across.yaml").write_text(CONFIG)
    given = [
        {"qid": f"q{n}", "query": "?", "duration": 20, "vid": "v", "relevant_windows": [[n, n + 4]], "ans": "A"}
        for n in range(6)
    ]
    write_jsonl(tmp_path / "given.jsonl", given)
    right = ({"qid": row["qid"], "pred_relevant_windows": row["relevant_windows"], "ans": "A"} for row in given)
    write_jsonl(tmp_path / "right.jsonl", right)
    run = snakemake(tmp_path, "--cores", "1", "results/tables", config=tmp_path / "across.yaml")
    assert run.returncode == 0, run.stdout
    suite = tmp_path / "results/across/rextime"
    counts, sources = read_json(suite / "counts.json"), read_json(suite / "sources.json")
    assert sources["captions"]["videos"] == {"given": 13, "kept": 12, "rejected": {"sparse": 1}}
    questions = read_jsonl(suite / "annotations/val.jsonl")
    assert counts["items"]["given"] == 12 and sum(counts["questions"].values()) == len(questions)
    assert counts["fates"]["kept"] == len(questions)
    assert "corrupted" not in json.dumps(questions)
    lines = (tmp_path / "results/tables/rextime-models.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert sum(row["Verdict"].startswith("not attempted") for row in rows) == 18
    assert {row["Method"] for row in rows} >= {"whole video, A", "random span and letter", "random, expected"}
    scored = {row["Method"]: row for row in rows if row["Test"] == "this run, given"}
    assert [float(scored[name]["mIoU"]) for name in ("all right", "whole video, A")] == [100, pytest.approx(20)]
    assert "reproduced" in (tmp_path / "results/tables/rextime-cost.md").read_text()
    before = (suite / "annotations/val.jsonl").read_bytes()
    again = snakemake(tmp_path, "--cores", "1", "results/tables", config=tmp_path / "across.yaml")
    assert "Nothing to be done" in again.stdout
    # the wage is of one table; no question is written anew for it
    (tmp_path / "across.yaml").write_text(CONFIG + "  prices: {wage_per_hour: 12}\n")
    planned = snakemake(tmp_path, "-n", "--quiet", "rules", "--", "results/tables", config=tmp_path / "across.yaml")
    assert "tabulate_rextime" in planned.stdout and "write_rextime_questions" not in planned.stdout
    assert (suite / "annotations/val.jsonl").read_bytes() == before


def test_a_source_that_cannot_be_is_named_before_anything_runs(tmp_path):
    wrong = CONFIG.replace("annotations: captions.json", "dataset: none")
    (tmp_path / "across.yaml").write_text(wrong)
    run = snakemake(tmp_path, "-n", "results/tables", config=tmp_path / "across.yaml")
    assert run.returncode and "captions" in run.stdout and "'none'" in run.stdout and "Traceback" not in run.stdout
    (tmp_path / "across.yaml").write_text(CONFIG.replace("questions: given", "questions: giver"))
    run = snakemake(tmp_path, "-n", "results/tables", config=tmp_path / "across.yaml")
    assert run.returncode and "unknown questions 'giver'; known: given, val" in run.stdout
