"""Statics captions: Equations 1 and 2 from keyframes to candidates, and moments of which a part fails."""

import io

from captioning import jpeg, make_moments, make_tar, settings
from PIL import Image
from refusals import refused
from stub_engine import StubEngine

from verified.captions.rows import shard_counts, split_corrupted
from verified.captions.statics import caption_statics
from verified.keyframes.archive import KeyframeTar
from verified.lmm.request import NotNow, Reply
from verified.lmm.session import Session
from verified.lmm.tasks.statics import TASKS

CAPTIONS = ["a dog runs", "a cat sits", "a dog runs"]


def run(folder, moments, engine, images=None, **changes):
    make_tar(folder / "k.tar", moments, images)
    generation = settings(folder, **changes)
    with (
        KeyframeTar(folder / "k.tar") as keyframes,
        Session(generation, 7, TASKS, {"llm": engine, "image_lmm": engine}) as session,
    ):
        rows = caption_statics(moments, keyframes, session)
        return rows, shard_counts(rows, generation.candidates, session.outcome_counts())


def test_the_image_goes_to_the_image_model_and_its_words_to_the_llm(tmp_path):
    engine = StubEngine()
    run(tmp_path, make_moments(CAPTIONS), engine)
    described = [request for request in engine.requests if request.task == "keyframe_description"]
    assert [request.images for request in described][:2] == [(jpeg(10),), (jpeg(150),)]
    candidates = [request for request in engine.requests if request.task == "statics_candidates"]
    assert all(request.slots["keyframe_number"] == "2" and not request.images for request in candidates)
    lines = candidates[0].prompt.splitlines()
    assert lines.index("Keyframe 1:") < lines.index("Keyframe 2:")
    assert sum(line.startswith('  Objects Attributes: "one red thing') for line in lines) == 2


def test_a_picture_larger_than_the_model_takes_is_scaled_and_asked_again_at_another_side(tmp_path):
    out = io.BytesIO()
    Image.new("RGB", (3840, 2160), (10, 90, 200)).save(out, "JPEG", quality=95)
    images = {100: [out.getvalue(), jpeg(9)]}
    for side, size in ((2560, (2560, 1440)), (1024, (1024, 576)), (4000, (3840, 2160))):
        engine = StubEngine()
        run(tmp_path, make_moments(CAPTIONS[:1]), engine, images, picture_side=side)
        sent = [request.images[0] for request in engine.requests if request.task == "keyframe_description"]
        assert Image.open(io.BytesIO(sent[0])).size == size
        assert (sent[0] == out.getvalue()) == (side == 4000) and sent[1:] in ([jpeg(9)], []), "small ones as they are"


def test_a_broken_picture_costs_itself_only(tmp_path):
    images = {100: [b"not a jpeg", jpeg(9)], 101: [jpeg(8), jpeg(8)[:100], jpeg(8)[:90]], 102: []}
    engine = StubEngine(
        lambda request, text: Reply(text, *(("blocked", "odd") if request.images == (jpeg(8),) else ()))
    )
    rows, counts = run(tmp_path, make_moments(CAPTIONS), engine, images)
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
        run(tmp_path, make_moments(CAPTIONS), engine, images)
    down[0], before = False, len(engine.requests)
    _, counts = run(tmp_path, make_moments(CAPTIONS), engine, images)
    assert [request.task for request in engine.requests[before:]] == ["keyframe_description", "statics_candidates"]
    assert counts["complete"] == 3


def test_a_job_that_may_lack_answers_goes_on_unless_it_has_none(tmp_path):
    def reply(request, text):
        if request.images != (jpeg(10),):
            raise NotNow("outage", "down")
        return Reply(text)

    _, counts = run(tmp_path, make_moments(CAPTIONS[:2]), StubEngine(reply), incomplete="allow")
    assert counts["calls"]["keyframe_description"]["reasons"] == {"error: outage": 3}
    with refused("1 of 1"):
        run(tmp_path, make_moments(CAPTIONS[:1]), StubEngine(reply), {100: [jpeg(7)]}, incomplete="allow")


def test_refused_and_missing_candidates_are_recorded(tmp_path):
    def reply(request, text):
        if request.task == "statics_candidates":
            return Reply(
                '{"1": "a dog runs by a wall", "2": "the original caption of a dog",'
                ' "3": "A dog runs!", "4": "A dog runs by a wall."}'
            )
        return Reply(text)

    rows, counts = run(tmp_path, make_moments(["a dog runs"]), StubEngine(reply))
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

    rows, corrupted_rows = split_corrupted(run(tmp_path, make_moments(["a dog runs"]), StubEngine(reply))[0])
    assert "corrupted" not in rows[0] and len(rows[0]["candidates"]) == 3
    assert corrupted_rows == [{"desc_id": 100, "type": "statics", **corrupted[1], "candidate": 1}]
