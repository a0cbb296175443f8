"""Questions through Snakemake from a file of captions alone: no data set, no video; counts that reconcile; edits."""

import csv
import json
import os

import pytest
import yaml
from loopback import completion, endpoint, prompt_of
from media import counted, write_video
from question_pages import captions
from running import ended_well, snakemake

from verified.__main__ import main
from verified.config import load
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified.planning.quote import quote

pytestmark = pytest.mark.slow

CONFIG = """
name: across
rextime:
  sources:
    captions: {form: captions, annotations: captions.json, split: val}
  released: {given: given.jsonl}
  submissions: {all right: {file: right.jsonl, questions: given}}
"""


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
    across = {"config": tmp_path / "across.yaml"}
    ended_well(tmp_path, "--cores", "1", "results/tables", **across)
    home = tmp_path / "results/across/rextime"
    counts, sources = read_json(home / "counts.json"), read_json(home / "sources.json")
    assert sources["captions"]["videos"] == {"given": 13, "kept": 12, "rejected": {"sparse": 1}}
    questions = read_jsonl(home / "annotations/val.jsonl")
    assert counts["items"]["given"] == 12 and sum(counts["questions"].values()) == len(questions)
    assert counts["fates"]["kept"] == len(questions)
    assert "corrupted" not in json.dumps(questions)
    lines = (tmp_path / "results/tables/rextime-models.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert sum(row["Verdict"].startswith("not attempted") for row in rows) == 18
    assert {row["Method"] for row in rows} >= {"whole video, A", "random span and letter"}
    scored = {row["Method"]: row for row in rows if row["Test"] == "this run, given"}
    assert [float(scored[name]["mIoU"]) for name in ("all right", "whole video, A")] == [100, pytest.approx(20)]
    assert "reproduced" in (tmp_path / "results/tables/rextime-cost.md").read_text()
    before = (home / "annotations/val.jsonl").read_bytes()
    assert "Nothing to be done" in ended_well(tmp_path, "--cores", "1", "results/tables", **across)
    # the wage is of one table; no question is written anew for it
    (tmp_path / "across.yaml").write_text(CONFIG + "  prices: {wage_per_hour: 12}\n")
    planned = ended_well(tmp_path, "-n", "--quiet", "rules", "--", "results/tables", **across)
    assert "tabulate_rextime" in planned and "write_rextime_questions" not in planned
    assert (home / "annotations/val.jsonl").read_bytes() == before


OWN_MODEL = """
name: asked
shards: 2
rextime:
  released:
    val: {questions: val.jsonl, videos: clips}
    spans: {questions: spans.jsonl, videos: clips}
    test: {questions: test.jsonl, videos: clips, scored: false}
    mini: {questions: val.jsonl, videos: clips, per_kind: 1}
  models: [video_lmm]
  frames: 4
generation:
  video_lmm: {engine: openai, model: own, base_url: "URL", api_key_variable: OWN_KEY}
"""
OPTIONS = {"options": ["it grows", "it stays", "it falls", "it turns"]}


def test_a_users_model_answers_given_questions_is_scored_and_asked_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clips").mkdir()
    for name, frames in (("a", 16), ("b", 32)):
        write_video(tmp_path / "clips" / f"{name}.mp4", counted(frames), 8)

    def questions(file, **more):
        rows = [
            {"qid": n, "query": f"What is {n}?", "duration": 2.0, "vid": vid, **more} for n, vid in enumerate("aabc")
        ]
        for row in rows:
            row["category"] = "sequential" if row["vid"] == "a" else "cause_effect"
        write_jsonl(tmp_path / file, rows)

    truth = {"relevant_windows": [[0.5, 1.5]]}
    questions("val.jsonl", **truth, **OPTIONS, ans="B")
    questions("spans.jsonl", **truth)
    questions("test.jsonl", **OPTIONS)

    def answer(number, body):
        with_options = "it grows" in prompt_of(body)
        return completion(
            '{"relevant_span": [0.5, 1.5], "answer": "B"}' if with_options else "From 0.5 to 1.5 seconds."
        )

    with endpoint(answer) as served:
        config = tmp_path / "asked.yaml"
        config.write_text(OWN_MODEL.replace("URL", served.url))
        environment = os.environ | {"OWN_KEY": "none"}
        quoted = {row["task"]: row["calls"] for row in quote(load(yaml.safe_load(config.read_text())))}
        ended_well(tmp_path, "--cores", "1", "results/tables", config=config, env=environment)
        asked = len(served.bodies)
        assert asked == sum(quoted.values()) == 6  # the same questions of val and test are asked once
        run = snakemake(tmp_path, "--cores", "1", "--forcerun", "answer_released_questions", "--", "results/tables",
                        config=config, env=environment)  # fmt: skip
        assert run.returncode == 0 and len(served.bodies) == asked
    given = tmp_path / "results/asked/rextime/released"
    assert {path.name for path in given.glob("*/*.jsonl")} == {"answer_with_span.jsonl", "sample.jsonl"}
    answers = [row for name in ("val", "test") for row in read_jsonl(given / name / "answer_with_span.jsonl")]
    assert [row["ans"] for row in answers] == ["B", "B", "B", None] * 2
    assert [str(row["qid"]) for row in answers] == list("0123") * 2
    systems = read_json(tmp_path / "results/asked/rextime/results.json")
    assert systems.keys() == {"val", "spans", "mini"} and systems["mini"]["questions"] == 2
    assert len(read_jsonl(given / "mini/answer_with_span.jsonl")) == 2  # asked with the others, and only once
    table = (tmp_path / "results/tables/rextime-kinds.csv").read_text()
    assert "sequential" in table and "cause effect" in table
    for name, mode in (("val", "both"), ("spans", "grounding")):
        own = next(value for key, value in systems[name]["systems"].items() if key.startswith("own"))
        assert own["mode"] == mode and own["result"]["brief"]["MR-full-mIoU"] == 75
        assert own["notes"][-2] == "1 of 4 questions are answered by nothing"
        assert own["notes"][-1].startswith("1 of 4 questions") and "b (4 s for 2)" in own["notes"][-1]
    assert main(["evaluate", str(tmp_path / "val.jsonl"), str(given / "val" / "answer_with_span.jsonl")]) == 0
