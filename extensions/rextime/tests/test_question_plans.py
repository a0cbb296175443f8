"""Questions in plans: refused configurations, needed files, checks, and quotes."""

from types import SimpleNamespace

import numpy as np
import pytest
from feature_settings import write_arrays
from given import coarse_only
from question_pages import captions

from verified.config import load
from verified.config.sources import ReleasedSource
from verified.io.jsonl import write_json, write_jsonl
from verified.lmm.session import Session
from verified.planning.check import problems
from verified.planning.quote import quote
from verified_rextime.filters import filter_captions
from verified_rextime.generate import write_questions
from verified_rextime.jobs import grounders, grounding_inputs
from verified_rextime.preflight import feature_findings
from verified_rextime.sources import read_captions
from verified_rextime.tasks import GENERATION

PRICES = {"price_in": 2.0, "price_out": 8.0}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json("captions.json", captions(5))
    generation = {"prompts": "config/prompts", "llm": PRICES, "scene_reader": {"corrupted_share": 0}}
    sources = {"captions": {"form": "captions", "annotations": "captions.json"}}
    return load({"name": "across", "generation": generation, "rextime": {"sources": sources}})


def calls(rows: list[dict], name: str = "calls") -> dict[str, int]:
    return {row["task"].removeprefix("rextime/"): row[name] for row in rows}


def test_a_quote_is_an_upper_bound_before_the_run_and_nothing_after_it(config):
    before = quote(config)
    assert calls(before)["event_pair"] == 5 and calls(before)["verification"] >= 1
    assert {row["dataset"] for row in before} == {"rextime"} and sum(row["money"] for row in before) > 0
    items, _ = filter_captions(read_captions("captions.json"), config.rextime.captions)
    with Session(config.generation, config.seed, GENERATION) as session:
        write_questions([item | {"split": "val"} for item in items], {}, session, config.rextime)
        made = session.askers["llm"].calls_made
    assert made > 0
    after = quote(config)
    assert sum(calls(after).values()) == 0
    assert sum(calls(after, "known").values()) == made


def test_files_that_are_not_there_are_named_and_planned_around(config, tmp_path):
    section = {
        "sources": {"queries": {"form": "queries", "annotations": "queries.jsonl", "videos": "clips"}},
        "released": {"given": "given.jsonl"},
        "submissions": {"mine": {"file": "mine.jsonl", "questions": "given"}},
    }
    settings = load({"name": "across", "rextime": section})
    assert [problem.key for problem in problems(settings, "c.yaml") if problem.key.startswith("rextime")] == [
        "rextime.sources.queries.annotations",
        "rextime.sources.queries.videos",
        "rextime.released.given",
        "rextime.submissions.mine.file",
    ]


def test_grounders_learn_from_the_finest_captions_that_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(ReleasedSource, "has_videos", True)  # as a kind of source of one's own can be
    configured = coarse_only(tmp_path, models=["xml", "hero"], seeds=[3])
    configured["datasets"]["made"] = {"title": "Made", "source": {"kind": "demo"}}
    sources = {name: {"form": "queries", "dataset": name} for name in ("mine", "made")}
    settings = load({**configured, "rextime": {"sources": sources, "models": ["retrieval"]}})
    assert grounders(settings) == [
        ("made", "hero", "fig"), ("made", "xml", "fig"), ("mine", "hero", "cog"), ("mine", "xml", "cog"),
    ]  # fmt: skip
    wildcards = SimpleNamespace(grounded="mine", grounder="xml-cog")
    assert grounding_inputs(settings, wildcards) == {
        "video": "results/given/mine/features/video.h5",
        "checkpoint": "results/given/mine/retrieval/xml/cog/seed-3/checkpoint.safetensors",
    }


def clips(count):
    return np.ones((count, 16), np.float32)


def test_clips_of_published_weights_are_held_against_the_videos_of_given_questions(tmp_path):
    """Of two videos of 20 s, clips of 2 s."""
    truth = {"relevant_windows": [[0.5, 1.5]], "duration": 20.0}
    write_jsonl(tmp_path / "val.jsonl", [{"qid": n, "query": "What?", "vid": v, **truth} for n, v in enumerate("ab")])
    given = {"checkpoint": "none.safetensors", "video": f"{tmp_path}/clips.h5"}
    section = {"released": {"val": {"questions": f"{tmp_path}/val.jsonl"}}, "published": {"univtg": given}}
    settings = load({"name": "own", "rextime": section})
    write_arrays(tmp_path / "clips.h5", {video: clips(10) for video in "ab"})
    assert [finding.level for finding in feature_findings(settings)] == ["ok"]
    write_arrays(tmp_path / "clips.h5", {"a": clips(20), "b": clips(10)})
    (finding,) = (finding for finding in feature_findings(settings) if finding.level != "ok")
    assert finding.level == "problem" and "clips.h5" in finding.message and "a (20 clips" in finding.message
