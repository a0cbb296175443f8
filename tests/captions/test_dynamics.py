"""Captions: Equations 1 to 5 from keyframes and clips to candidates, parts that fail, and counts."""

import io
import threading

import numpy as np
import pytest
from captioning import jpeg, make_moments, make_tar, make_videos, settings
from media import number_of
from PIL import Image
from refusals import refused
from stub_engine import StubEngine

import verified.captions.clips as clips
from verified.captions.clips import clip_digest, fitted_size, order_by_video
from verified.captions.counts import add_served, add_up
from verified.captions.dynamics import caption_dynamics
from verified.captions.rows import shard_counts, split_corrupted
from verified.captions.statics import caption_statics
from verified.config.generation import EngineSettings
from verified.io.jsonl import write_json
from verified.keyframes.archive import KeyframeTar
from verified.keyframes.extract import encode_jpeg
from verified.lmm.jobs import THIS_RUN, asked_in
from verified.lmm.request import STATUSES, NotNow, Reply
from verified.lmm.session import Session
from verified.lmm.tasks.dynamics import TASKS
from verified.lmm.tasks.statics import TASKS as STATIC_TASKS

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
    engine = StubEngine()
    first = run(tmp_path, moments, videos, engine)
    assert {request.slots["frame_number"] for request in engine.requests if request.task == "answers"} == {"16"}
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


OF_STATICS = ["a dog runs", "a cat sits", "a dog runs"]


def run_statics(folder, moments, engine, images=None, **changes):
    make_tar(folder / "k.tar", moments, images)
    generation = settings(folder, **changes)
    with (
        KeyframeTar(folder / "k.tar") as keyframes,
        Session(generation, 7, STATIC_TASKS, {"llm": engine, "image_lmm": engine}) as session,
    ):
        rows = caption_statics(moments, keyframes, session)
        return rows, shard_counts(rows, generation.candidates, session.outcome_counts())


def test_the_image_goes_to_the_image_model_and_its_words_to_the_llm(tmp_path):
    engine = StubEngine()
    run_statics(tmp_path, make_moments(OF_STATICS), engine)
    described = [request for request in engine.requests if request.task == "keyframe_description"]
    assert [request.images for request in described][:2] == [(jpeg(10),), (jpeg(150),)]
    candidates = [request for request in engine.requests if request.task == "statics_candidates"]
    assert all(request.slots["keyframe_number"] == "2" and not request.images for request in candidates)
    lines = candidates[0].prompt.splitlines()
    assert lines.index("Keyframe 1:") < lines.index("Keyframe 2:")
    assert sum(line.startswith('  Objects Attributes: "one red thing') for line in lines) == 2


def test_a_picture_larger_than_the_model_takes_is_scaled_and_asked_again_at_another_side(tmp_path):
    large = encode_jpeg(np.full((2160, 3840, 3), (10, 90, 200), np.uint8))
    images = {100: [large, jpeg(9)]}
    for side, size in ((2560, (2560, 1440)), (1024, (1024, 576)), (4000, (3840, 2160))):
        engine = StubEngine()
        run_statics(tmp_path, make_moments(OF_STATICS[:1]), engine, images, picture_side=side)
        sent = [request.images[0] for request in engine.requests if request.task == "keyframe_description"]
        assert Image.open(io.BytesIO(sent[0])).size == size
        assert (sent[0] == large) == (side == 4000) and sent[1:] in ([jpeg(9)], []), "small ones as they are"


def test_a_broken_picture_costs_itself_only(tmp_path):
    images = {100: [b"not a jpeg", jpeg(9)], 101: [jpeg(8), jpeg(8)[:100], jpeg(8)[:90]], 102: []}
    engine = StubEngine(
        lambda request, text: Reply(text, *(("blocked", "odd") if request.images == (jpeg(8),) else ()))
    )
    rows, counts = run_statics(tmp_path, make_moments(OF_STATICS), engine, images)
    (asked,) = [request for request in engine.requests if request.task == "statics_candidates"]
    assert asked.slots["keyframe_number"] == "1", "of the described ones"
    assert len(rows[0]["candidates"]) == 3 and [k["description"] != "" for k in rows[0]["keyframes"]] == [False, True]
    assert rows[1]["candidates"] == [] and rows[1]["shortfall"] == 3
    assert rows[1]["reason"] == "keyframe-error: media", "the commonest, not the first"
    assert rows[2]["candidates"] == [] and rows[2]["reason"] == "no-keyframes"
    assert (counts["complete"], counts["short"], counts["without"]) == (1, 0, 2)
    assert counts["candidates"] == {"wanted": 9, "kept": 3, "missing": 6}
    assert counts["calls"]["keyframe_description"]["reasons"] == {"blocked: odd": 1, "error: media": 3}


def test_candidates_wait_for_pictures_without_an_answer_and_nothing_is_asked_twice(tmp_path):
    down = [True]

    def reply(request, text):
        picture = request.images[0] if request.task == "keyframe_description" else b""
        return Reply("", "error", "status-503") if down[0] and picture == jpeg(9) else Reply(text)

    images = {100: [jpeg(7), jpeg(9)], 101: [jpeg(8)], 102: [jpeg(6), jpeg(5), jpeg(4)]}
    engine = StubEngine(reply)
    with refused("1 of 8", "503", remedy=True):
        run_statics(tmp_path, make_moments(OF_STATICS), engine, images)
    down[0], before = False, len(engine.requests)
    _, counts = run_statics(tmp_path, make_moments(OF_STATICS), engine, images)
    assert [request.task for request in engine.requests[before:]] == ["keyframe_description", "statics_candidates"]
    assert counts["complete"] == 3


def test_a_job_that_may_lack_answers_goes_on_unless_it_has_none(tmp_path):
    def reply(request, text):
        if request.images != (jpeg(10),):
            raise NotNow("outage", "down")
        return Reply(text)

    _, counts = run_statics(tmp_path, make_moments(OF_STATICS[:2]), StubEngine(reply), incomplete="allow")
    assert counts["calls"]["keyframe_description"]["reasons"] == {"error: outage": 3}
    with refused("1 of 1"):
        run_statics(tmp_path, make_moments(OF_STATICS[:1]), StubEngine(reply), {100: [jpeg(7)]}, incomplete="allow")


def test_refused_and_missing_candidates_are_recorded(tmp_path):
    def reply(request, text):
        if request.task == "statics_candidates":
            return Reply(
                '{"1": "a dog runs by a wall", "2": "the original caption of a dog",'
                ' "3": "A dog runs!", "4": "A dog runs by a wall."}'
            )
        return Reply(text)

    rows, counts = run_statics(tmp_path, make_moments(["a dog runs"]), StubEngine(reply))
    assert [candidate["caption"] for candidate in rows[0]["candidates"]] == ["a dog runs by a wall"]
    assert rows[0]["shortfall"] == 2 and rows[0]["reason"] == "short"
    assert [item["reason"] for item in rows[0]["refused"]] == ["original-caption", "equals-coarse", "duplicate"]
    assert counts["refused"] == {"duplicate": 1, "equals-coarse": 1, "original-caption": 1} and counts["short"] == 1


def test_corruptions_are_split_off_with_the_index_of_the_accepted_candidate(tmp_path):
    corrupted = [
        {"candidate": candidate, "kind": "static", "changed": {"colour": ["red", "blue"]}} for candidate in (0, 2)
    ]

    def reply(request, text):
        if request.task == "statics_candidates":
            body = '{"1": "a dog runs", "2": "a dog runs by day", "3": "a dog runs by night", "4": "a blue dog runs"}'
            return Reply(body, notes={"corrupted": corrupted})
        return Reply(text)

    rows, corrupted_rows = split_corrupted(run_statics(tmp_path, make_moments(["a dog runs"]), StubEngine(reply))[0])
    assert "corrupted" not in rows[0] and len(rows[0]["candidates"]) == 3
    assert corrupted_rows == [{"desc_id": 100, "type": "statics", **corrupted[1], "candidate": 1}]


OUTCOMES = dict.fromkeys(STATUSES, 0) | {"ok": 5, "blocked": 1}
CALLS = {"calls": 6, "outcomes": OUTCOMES, "reasons": {"blocked: content-filter": 1}, "served": {"olmocr-2 for m": 4}}
SHARD = {"moments": 7, "complete": 4, "short": 2, "without": 1, "refused": {"empty": 1}, "calls": {"statics": CALLS}}
LOST = {"statics": CALLS | {"outcomes": OUTCOMES | {"ok": 4}}}


@pytest.mark.parametrize(
    ("change", "reason"), [({"complete": 1}, "do not sum to 14 moments"), ({"calls": LOST}, "do not sum to 12 calls")]
)
def test_counts_that_do_not_reconcile_are_an_error(change, reason):
    counts = add_up({"statics": [SHARD, SHARD]})["statics"]
    assert counts["rows"] == {"statics": {"complete": 8, "short": 4, "without": 2}} and counts["refused"] == {
        "empty": 2
    }
    assert counts["tasks"][0]["blocked"] == 2 and counts["tasks"][0]["reasons"] == {"blocked: content-filter": 2}
    about = add_served({"models": {"Image model": "m"}}, {"statics": counts})
    assert about["models"] == {"Image model": "m", "Answers by other models": "olmocr-2 for m (8 answers)"}
    with pytest.raises(ValueError, match=reason):
        add_up({"statics": [SHARD, SHARD | change]})


def test_only_a_shard_with_unanswered_calls_is_asked_again(tmp_path):
    for name, unanswered in (("done", {}), ("open", {"statics": 1})):
        write_json(tmp_path / name, {"unanswered": unanswered, "asked_in": "run 7"})
    assert [asked_in(str(tmp_path / name)) for name in ("done", "open", "missing")] == ["run 7", THIS_RUN, ""]
