"""The quote: counted before anything runs, and exact for recorded calls."""

import json
import os
from collections import Counter
from types import SimpleNamespace

import pytest
from captioning import make_moments, make_tar, make_videos
from given import asked_corpus
from loopback import endpoint
from refusals import refused

from verified.captions import dynamics, statics
from verified.config import load
from verified.config.generation import EngineSettings
from verified.io.jsonl import write_jsonl
from verified.keyframes.archive import KeyframeTar
from verified.lmm.session import Session
from verified.lmm.tasks.dynamics import ANSWERS
from verified.lmm.tasks.paper import PAPER
from verified.planning.quote import Planner, _mean_tokens, _Tally, quote, totals

CAPTIONS = ["a dog runs", "a cat sits", "a dog runs"]


def config(url):
    values = asked_corpus("mine", url, price_in=1.0, price_out=2.0) | {"shards": 1}
    values["datasets"]["mine"]["keyframes"] = {"segments": 2}
    speed = {"tokens_per_second": 10.0, "tokens_read_per_second": 1000.0}
    values["generation"]["video_lmm"] |= {"tokens_per_image": 250, **speed}
    return load(values | {"generation": values["generation"] | {"ledger": "ledger"}})


def lay_videos(folder, moments):
    """Files by the names of the videos; a quote opens none of them."""
    (folder / "videos").mkdir()
    for video in {row["video"] for row in moments}:
        (folder / "videos" / f"{video}.mp4").touch()


def test_a_quote_before_and_after_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moments = make_moments(CAPTIONS)
    write_jsonl("moments.jsonl", moments)
    with refused("videos"):
        quote(config("http://127.0.0.1:9"))
    lay_videos(tmp_path, moments)
    with endpoint() as served:
        settings = config(served.url)
        before = {row["task"]: row for row in quote(settings)}
        assert not served.bodies and not (tmp_path / "ledger").exists()
        calls = {task: row["calls"] for task, row in before.items()}
        still, moving = {"keyframe_description": 6, "statics_candidates": 3}, {"questions": 2, "answers": 3}
        perturbed = dict.fromkeys(("positives", "static_negatives", "dynamic_negatives"), 2)
        assert calls == still | moving | {"dynamics_candidates": 3} | perturbed
        assert before["keyframe_description"]["images"] == 6 and before["answers"]["frames"] == 48
        answers = before["answers"]
        seconds = answers["tokens_in"] / 1000 + answers["tokens_out"] / 10
        assert answers["tokens_in"] > 48 * 250 and answers["gpu_hours"] == pytest.approx(seconds / 3600)
        assert answers["money"] == pytest.approx((answers["tokens_in"] + 2 * answers["tokens_out"]) / 1e6, rel=0.01)
        assert all(row["known"] == 0 for row in before.values()) and totals(list(before.values()))["unseen"] == 3

        videos = make_videos(tmp_path / "videos", moments)
        probes = [{"video": name, "probe": row} for name, row in videos.items()]
        write_jsonl("results/mine/corpus/shards/shard-00.probes.jsonl", probes)
        (tmp_path / "results/mine/keyframes").mkdir()
        tar = make_tar(tmp_path / "results/mine/keyframes/shard-00.tar", moments)
        with Session(settings.generation, settings.seed, PAPER) as session, KeyframeTar(tar) as keyframes:
            statics.caption_statics(moments, keyframes, session)
            half = totals(quote(settings))
            assert half["known"] == 9 and half["images"] == 0 and half["calls"] == 14
            dynamics.caption_dynamics(moments, videos, settings.datasets["mine"].dynamics.model_dump(), session)
        asked = len(served.bodies)
        after = {row["task"]: row for row in quote(settings)}
        assert len(served.bodies) == asked
    assert totals(list(after.values()))["unseen"] == 0
    video = tmp_path / "videos" / f"{moments[0]['video']}.mp4"
    video.write_bytes(b"another")
    os.utime(video, (0, 0))
    assert totals(quote(settings))["unseen"] > 0, "a copy that keeps its old times is a new file"
    for task in (task.name for task in PAPER[:5]):
        assert after[task]["calls"] == 0 and after[task]["tokens_in"] == 0 and after[task]["known"] > 0
    assert after["positives"]["calls"] == 2
    assert json.dumps(totals(list(after.values())))
    monkeypatch.setattr("verified.planning.quote.ENOUGH_CALLS", 3)  # as many as there are answers
    write_jsonl("moments.jsonl", make_moments(["a bird flies"]))
    (answers,) = [row for row in quote(settings) if row["task"] == "answers"]
    assert (answers["calls"], answers["tokens_in"]) == (1, 12), "the mean of recorded calls"


def test_pictures_of_known_models_are_counted_by_their_rule_and_others_are_marked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moments = make_moments(CAPTIONS)
    write_jsonl("moments.jsonl", moments)
    (tmp_path / "videos").mkdir(exist_ok=True)
    make_videos(tmp_path / "videos", moments)

    def rows(model, **changes):
        role = {"engine": "openai", "model": model, "base_url": "http://127.0.0.1:1/v1", "price_in": 1.0, **changes}
        settings = config("http://127.0.0.1:1/v1").model_dump()
        settings["generation"] |= {"image_lmm": role, "video_lmm": role}
        return {row["task"]: row for row in quote(load(settings))}

    known = rows("llava-hf/llava-v1.6-mistral-7b-hf")["keyframe_description"]
    assert known["pictures_unknown"] == 0 and known["tokens_in"] > 6 * 1500
    clip = rows("Qwen/Qwen2.5-VL-7B-Instruct", video_input="frames")["answers"]
    assert clip["pictures_unknown"] == 0 and 48 * 50 < clip["tokens_in"] < 48 * 150
    unknown = rows("somebody's")
    assert (unknown["keyframe_description"]["pictures_unknown"], unknown["answers"]["pictures_unknown"]) == (6, 48)
    assert unknown["answers"]["money"] is None and totals(list(unknown.values()))["money"] is None
    assert rows("somebody's", price_in=0.0, price_out=2.0)["answers"]["money"] > 0
    role = EngineSettings(engine="openai", model="Qwen/Qwen2.5-VL-7B-Instruct")
    assert _mean_tokens(role, Counter({(84, 168): 3, (1120, 560): 1}), 280) == (3 * 20 + 52) / 4


def test_missing_calls_cost_the_text_of_the_answered_ones_and_their_own_pictures():
    planner = Planner.__new__(Planner)  # as after a run that was killed among its clips
    planner.engine, planner.tasks = SimpleNamespace(model="m"), {"answers": ANSWERS}
    planner.role = EngineSettings(engine="openai", model="m", price_in=3.0)
    planner.of_image, planner.of_frame, planner.means, planner.found = None, 100, {}, {"answers": 20}
    missing, answered = _Tally(), _Tally()
    missing.calls, missing.frames = 3, 60
    answered.calls, answered.frames, answered.tokens_in = 20, 20 * 16, 20 * (16 * 100 + 30)
    planner.missing, planner.answered = {"answers": missing}, {"answers": answered}
    row = planner.estimate()["answers"]
    assert row["tokens_in"] == 3 * 30 + 60 * 100 and row["money"] == pytest.approx(3 * row["tokens_in"] / 1e6)


def test_calls_that_will_differ_are_counted_separately(tmp_path, monkeypatch):
    """Two moments of one caption in two videos differ in their pictures, and so in all that follows from these."""
    monkeypatch.chdir(tmp_path)
    moments = make_moments(["a dog runs"] * 4, videos=2)
    moments.append({**moments[0], "desc_id": 99})  # the same moment again: asked once
    write_jsonl("moments.jsonl", moments)
    lay_videos(tmp_path, moments)
    calls = {row["task"]: row["calls"] for row in quote(config("http://127.0.0.1:9"))}
    assert calls["questions"] == calls["positives"] == 1
    assert calls["keyframe_description"] == 2 * 4
    assert calls["statics_candidates"] == calls["answers"] == calls["dynamics_candidates"] == 4
