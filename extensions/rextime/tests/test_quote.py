"""A quote counts the calls that the run then makes, and after the run none."""

import pytest
from refusals import refused
from running import PROJECT

from verified.config import load
from verified.io.jsonl import write_json
from verified.lmm.session import Session
from verified.planning.check import problems
from verified.planning.placeholders import missing
from verified.planning.quote import quote
from verified_rextime.answer import TASKS
from verified_rextime.filters import filter_captions
from verified_rextime.generate import write_questions
from verified_rextime.quote import tasks_of
from verified_rextime.sources import read_captions
from verified_rextime.stage import STAGE
from verified_rextime.tasks import ANSWER_WITH_SPAN, GENERATION

PRICES = {"price_in": 2.0, "price_out": 8.0}
VERBS = ("bounces", "grows", "moves to the left", "vanishes")


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entries = {
        f"v{video}": {
            "duration": 9.0,
            "timestamps": [[0, 4], [4.5, 8.5]],
            "sentences": [f"a ball {VERBS[video % 4]}", f"{video} boxes grow"],
        }
        for video in range(5)
    }
    write_json("captions.json", entries)
    prompts = "config/prompts"
    return load(
        {
            "name": "across",
            "generation": {"prompts": prompts, "llm": PRICES, "scene_reader": {"corrupted_share": 0}},
            "rextime": {"sources": {"captions": {"form": "captions", "annotations": "captions.json"}}},
        }
    )


def test_every_prompt_is_of_a_task_of_the_stage(config):
    suite = {"sources": {"captions": {"form": "captions", "annotations": "captions.json"}}, "models": ["video_lmm"]}
    suite |= {"protocols": list(TASKS)}
    given = {"questions": "q.jsonl", "videos": "videos"}
    settings = load({"name": "across", "rextime": {**suite, "released": {"given": given}}})
    prompts = {f"rextime/{file.stem}" for file in (PROJECT / "extensions" / "rextime" / "prompts").glob("*.md")}
    assert prompts == {task.name for task in STAGE.tasks(settings)}


def calls(rows: list[dict], name: str = "calls") -> dict[str, int]:
    return {row["task"].removeprefix("rextime/"): row[name] for row in rows}


def test_a_quote_is_an_upper_bound_before_the_run_and_nothing_after_it(config):
    before = quote(config)
    assert calls(before)["event_pair"] == 5 and calls(before)["verification"] >= 1
    assert {row["dataset"] for row in before} == {"rextime"} and sum(row["money"] for row in before) > 0
    items, _ = filter_captions(read_captions("captions.json"), config.rextime.captions)
    with Session(config.generation, config.seed, GENERATION) as session:
        write_questions([item | {"split": "val"} for item in items], {}, session, config.rextime)
        asked = session.askers["llm"].asked
    assert asked > 0
    after = quote(config)
    assert sum(calls(after).values()) == 0
    assert sum(calls(after, "known").values()) == asked


def test_protocols_are_quoted_and_a_corpus_that_is_missing_is_named(config):
    suite = config.rextime.model_copy(update={"models": ("video_lmm",)})
    assert ANSWER_WITH_SPAN in tasks_of(suite)
    source = {"form": "captions", "dataset": "mine", "split": "test"}
    data = {"mine": {"title": "Mine", "source": {"kind": "demo"}}}
    other = load({"name": "mine", "datasets": data, "rextime": {"sources": {"captions": source}}})
    with refused("yet"):
        quote(other)


def test_files_that_are_not_there_are_named_and_planned_around(config, tmp_path):
    wanted = {
        "name": "across",
        "rextime": {
            "sources": {"queries": {"form": "queries", "annotations": "queries.jsonl", "videos": "clips"}},
            "released": {"given": "given.jsonl"},
            "submissions": {"mine": {"file": "mine.jsonl", "questions": "given"}},
        },
    }
    settings = load(wanted)
    assert [problem.key for problem in problems(settings, "c.yaml") if problem.key.startswith("rextime")] == [
        "rextime.sources.queries.annotations",
        "rextime.sources.queries.videos",
        "rextime.released.given",
        "rextime.submissions.mine.file",
    ]
    assert set(missing(settings, tmp_path)) == {"queries.jsonl", "clips", "given.jsonl", "mine.jsonl"}
