"""Dynamics captions: Equations 3 to 5; each video is decoded once, and only for clips that have to be asked about."""

import threading

import numpy as np
import pytest
from captioning import make_moments, make_videos, settings
from media import number_of
from stub_engine import StubEngine

import verified.captions.clips as clips
from verified.captions.clips import clip_digest, fitted_size, order_by_video
from verified.captions.dynamics import caption_dynamics
from verified.config.generation import EngineSettings
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified.lmm.tasks.dynamics import TASKS

CAPTIONS = ["a dog runs", "a cat sits", "a dog runs", "a bird flies"]
EIGHT = {"fps": 8.0, "frames": None, "max_frames": 64}


def run(folder, moments, videos, engine, dynamics=EIGHT, **changes):
    with Session(settings(folder, **changes), 7, TASKS, {"llm": engine, "video_lmm": engine}) as session:
        return caption_dynamics(moments, videos, dynamics, session)


def test_the_video_model_sees_the_right_frames_and_the_stated_numbers(tmp_path):
    moments = make_moments(CAPTIONS[:3], seconds=1.5)
    engine = StubEngine()
    rows = run(tmp_path, moments, make_videos(tmp_path, moments), engine, {**EIGHT, "max_frames": 12})
    assert not any(row["thinned"] for row in rows)
    answers = [request for request in engine.requests if request.task == "answers"]
    for number, request in enumerate(answers):
        assert [number_of(frame) for frame in request.frames] == list(range(12 * number, 12 * number + 12))
        assert request.frame_times == pytest.approx(np.arange(12) / 8)
        assert (request.slots["duration"], request.slots["frame_number"]) == ("1.5", "12")
        lines = request.slots["questions"].splitlines()
        assert [line.partition(". ")[0] for line in lines] == list("12345")
    candidates = [request for request in engine.requests if request.task == "dynamics_candidates"]
    assert [(r.slots["start"], r.slots["end"]) for r in candidates] == [("0", "1.5"), ("1.5", "3"), ("3", "4.5")]
    for request, follow_up in zip(answers, candidates, strict=True):
        questions = [line for line in follow_up.slots["questions_and_answers"].splitlines() if "(Q)" in line]
        assert [line.replace("(Q) ", "").replace('"', "") for line in questions] == request.slots[
            "questions"
        ].splitlines()


def test_each_video_is_decoded_once_and_not_at_all_when_all_is_known(tmp_path, monkeypatch):
    opened = []
    decode = clips.frames_of_spans
    monkeypatch.setattr(clips, "frames_of_spans", lambda path, *a, **k: opened.append(path) or decode(path, *a, **k))
    moments = make_moments(CAPTIONS * 2, videos=2)
    videos = make_videos(tmp_path, moments)
    first = run(tmp_path, moments, videos, StubEngine())
    assert sorted(opened) == sorted(video["path"] for video in videos.values())
    opened.clear()
    engine = StubEngine()
    assert run(tmp_path, moments, videos, engine) == first
    assert not opened and not engine.requests


def test_clips_for_a_gpu_are_decoded_ahead_and_are_the_same(tmp_path, monkeypatch):
    """After a first batch the next videos are under way in threads, also where one of them cannot be read."""
    moments = make_moments([f"a dog runs {number} times" for number in range(12)], videos=6)
    videos = make_videos(tmp_path, moments)
    (tmp_path / "v3.mp4").write_bytes(b"x" * 5000)
    opened: list[tuple[str, bool]] = []
    decode = clips.frames_of_spans

    def watched(path, *arguments, **options):
        opened.append((path, threading.current_thread().name.startswith("clips")))
        return decode(path, *arguments, **options)

    monkeypatch.setattr(clips, "frames_of_spans", watched)
    (tmp_path / "plain").mkdir()
    role = EngineSettings(engine="vllm", model="scene-reader-1", batch_size=2)
    plain = run(tmp_path / "plain", moments, videos, StubEngine(), video_lmm=role)
    assert not any(threaded for _, threaded in opened) and len(opened) == 6
    opened.clear()
    on_gpu = role.model_copy(update={"gpu": 1})
    assert run(tmp_path, moments, videos, StubEngine(), video_lmm=on_gpu, prefetch_threads=2) == plain
    assert sorted(path for path, _ in opened) == sorted(video["path"] for video in videos.values())
    assert [threaded for _, threaded in opened].count(False) == 2, "one for the first batch, and one to begin behind it"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("clips")]


def test_a_long_clip_is_thinned_uniformly_and_says_so(tmp_path):
    moments = make_moments(CAPTIONS[:1], seconds=5)
    engine = StubEngine()
    (row,) = run(tmp_path, moments, make_videos(tmp_path, moments), engine, {**EIGHT, "max_frames": 10})
    assert row["frames"] == 10 and row["thinned"]
    (request,) = [request for request in engine.requests if request.task == "answers"]
    assert [number_of(frame) for frame in request.frames] == [2, 6, 10, 14, 18, 22, 26, 30, 34, 38]
    assert request.slots["frame_number"] == "10"


def test_a_number_of_frames_is_spread_over_the_clip_and_another_sampling_is_asked_anew(tmp_path):
    moments = make_moments(CAPTIONS[:2], seconds=3)
    videos, seen = make_videos(tmp_path, moments), []
    for sampling in ({"fps": None, "frames": 6, "max_frames": 64}, {"fps": None, "frames": 6, "max_frames": 3}):
        engine = StubEngine()
        rows = run(tmp_path, moments, videos, engine, sampling)
        seen.append([number_of(frame) for r in engine.requests if r.task == "answers" for frame in r.frames])
        assert [(row["frames"], row["thinned"]) for row in rows] == [(len(seen[-1]) // 2, len(seen) > 1)] * 2
    assert seen == [[2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46], [6, 14, 22, 30, 38, 46]]


def test_an_answer_stays_with_its_question_where_another_has_none(tmp_path):
    def reply(request, text):
        return Reply(text.replace("It moves 2 steps to the left.", "–") if request.task == "answers" else text)

    engine, moments = StubEngine(reply), make_moments(CAPTIONS[:1])
    (row,) = run(tmp_path, moments, make_videos(tmp_path, moments), engine)
    told = [f"It moves {number} steps to the left." for number in (1, 3, 4, 5)]
    assert row["answers"] == [told[0], "", *told[1:]]
    (follow_up,) = [request for request in engine.requests if request.task == "dynamics_candidates"]
    pairs = [(row["questions"][place], row["answers"][place]) for place in (0, 2, 3, 4)]
    lines = follow_up.slots["questions_and_answers"].splitlines()
    assert [(q.partition("(Q) ")[2], a.partition("(A) ")[2]) for q, a in zip(lines[::2], lines[1::2])] == [
        (f'"{question}"', f'"{answer}"') for question, answer in pairs
    ]


def test_as_many_answers_are_required_as_questions_were_asked(tmp_path):
    def reply(request, text):
        return Reply("\n".join(text.splitlines()[:3]) if request.task == "questions" else text)

    engine, moments = StubEngine(reply), make_moments(CAPTIONS[:1])
    (row,) = run(tmp_path, moments, make_videos(tmp_path, moments), engine)
    assert len(row["questions"]) == 3 and "" not in row["answers"]
    assert [request.task for request in engine.requests].count("answers") == 1, "there are no others to ask for"


def test_all_that_decides_the_frames_of_a_clip_is_in_its_digest():
    def digest(sha256="0f", start=1.0, end=4.5, side=448, form="stills", **sampling):
        return clip_digest({"sha256": sha256}, start, end, EIGHT | sampling, side, form)

    changes = ({"sha256": "1e"}, {"start": 2.0}, {"end": 3.0}, {"side": 224}, {"form": "mp4"}, {"fps": 4.0})
    changes += ({"max_frames": 10}, {"fps": None, "frames": 6}, {"fps": None, "frames": 7})
    assert len({digest(), *(digest(**change) for change in changes)}) == 1 + len(changes)


@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_a_video_that_cannot_be_read_costs_its_own_moments_only(tmp_path, damage):
    moments = make_moments(CAPTIONS, videos=2)
    videos = make_videos(tmp_path, moments)
    (tmp_path / "v0.mp4").unlink() if damage == "missing" else (tmp_path / "v0.mp4").write_bytes(b"x" * 5000)
    rows = run(tmp_path, moments, videos, StubEngine())
    for moment, row in zip(moments, rows):
        lost = moment["video"] == "v0"
        assert (row["reason"] == "answers-error: media") is lost and (row["candidates"] == []) is lost
        assert len(row["questions"]) == 5


def test_clips_are_asked_for_in_the_order_in_which_they_end():
    spans = [("b", 0, 2), ("a", 0, 9), ("a", 1, 2), ("b", 1, 2)]
    assert order_by_video({"video": video, "start": start, "end": end} for video, start, end in spans) == [2, 1, 0, 3]


def test_large_videos_are_fitted_and_small_ones_left_alone():
    assert fitted_size({"height": 720, "width": 1280}, 448) == (252, 448)
    assert fitted_size({"height": 1280, "width": 720}, 448) == (448, 252)
    assert fitted_size({"height": 112, "width": 112}, 448) is None
