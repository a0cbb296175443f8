"""The role `embed`: texts, frames and clips in, vectors out, through the same ledger, budget and check as all calls."""

import json

import numpy as np
import pytest
from loopback import Scripted, embedding, endpoint, refusal
from refusals import refused

from verified.config.generation import Generation
from verified.lmm.ledger import Ledger
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING, read_vector, vector_of, vector_text
from verified_field.embedding import embed_texts, shown_call, stack, text_calls

GREY = np.full((1, 32, 48, 3), 128, np.uint8)


def settings(tmp_path, budget=None, **embed):
    values = {"ledger": str(tmp_path / "ledger"), "embed": embed, "budget": budget or {}}
    return Generation.model_validate(values)


def served_by(tmp_path, url, **changes):
    values = {"engine": "openai", "model": "vector-1", "base_url": url, "retries": 1, **changes}
    return settings(tmp_path, **values)


def shown(session, frames, digest):
    times = tuple(0.5 * number for number in range(len(frames)))
    return shown_call(session, len(frames), digest, lambda: {"frames": frames, "frame_times": times})


def asked(generation, texts=(), clips=(), seed=0):
    with Session(generation, seed, (EMBEDDING,)) as session:
        vectors = embed_texts(list(texts), session)
        seen = stack(session.ask(EMBEDDING, [shown(session, *clip) for clip in clips], len(clips)))
        return vectors, seen


def test_a_vector_survives_the_ledger_within_half_precision():
    values = np.random.default_rng(3).normal(size=384)
    found = vector_of(vector_text(values))
    assert abs(float(found @ (values / np.linalg.norm(values))) - 1) < 5e-4
    assert read_vector({}, vector_text(values), 1, False).sections == {"dim": "384"}
    for text in ("", "{}", '{"vector": "AAA"}', '{"vector": "AAAA"}', '{"vector": "/H8="}', "[" * 10_000):
        assert read_vector({}, text, 1, False).missing == 1
    for none in ([], [0.0, 0.0], [float("nan")], [float("inf"), 1.0]):
        with pytest.raises(ValueError, match="numbers"):
            vector_text(none)


def test_texts_are_asked_once_with_their_form_and_whatever_the_seed(tmp_path):
    with endpoint(lambda number, body: embedding([3.0, 4.0])) as served:
        generation = served_by(tmp_path, served.url, shows="nothing", query_form="query: {text}", dimensions=2)
        vectors, _ = asked(generation, ["a ball", "a box", "a ball"])
        assert vectors == pytest.approx(np.tile([0.6, 0.8], (3, 1)), abs=1e-3)
        asked(generation, ["a box"], seed=7)
        with Session(generation, 0, (EMBEDDING,)) as session:
            assert [call.request.prompt for call in text_calls(["a ball"], session, query=False)] == ["a ball"]
        assert sorted(body["input"] for body in served.bodies) == ["query: a ball", "query: a box"]
        form = {"model": "vector-1", "encoding_format": "float", "dimensions": 2}
        assert served.bodies[0] | {"input": ""} == form | {"input": ""}
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["tokens_in"] == 18


def test_pictures_and_clips_go_as_a_chat_to_a_server_of_vllm(tmp_path):
    instructions = {"instruction": "Show.", "query_instruction": "Find.", "shows": "clips"}
    with endpoint(lambda number, body: embedding([1.0, number])) as served:
        generation = served_by(tmp_path, served.url, video_input="frames", api_slots=1, **instructions)
        clips = [(GREY, "one"), (np.repeat(GREY, 3, axis=0), "three"), (GREY, "one")]
        _, seen = asked(generation, ["a ball"], clips)
        other = {**instructions, "instruction": "Look."}
        asked(served_by(tmp_path, served.url, video_input="frames", api_slots=1, **other), ["a ball"], clips[:1])
    assert len(served.bodies) == 4 and np.array_equal(seen[0], seen[2])
    text, frame, clip, _ = served.bodies
    for body, instruction in ((text, "Find."), (frame, "Show."), (clip, "Show.")):
        system, user, assistant = body["messages"]
        assert system == {"role": "system", "content": [{"type": "text", "text": instruction}]}
        assert (user["role"], assistant["content"]) == ("user", [{"type": "text", "text": ""}])
        assert body["continue_final_message"] and body["add_special_tokens"] and "input" not in body
    assert text["messages"][1]["content"] == [{"type": "text", "text": "a ball"}]
    assert clip["messages"][1]["content"][0]["video_url"]["url"].startswith("data:video/jpeg;base64,")
    assert clip["media_io_kwargs"]["video"]["frames_indices"] == [0, 1, 2]
    with endpoint(lambda number, body: embedding([1.0])) as served:
        asked(served_by(tmp_path, served.url), [], [(GREY, "one")])
    (picture, _) = served.bodies[0]["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_answers_that_are_no_vectors_are_typed_and_leave_zeros(tmp_path):
    answers = iter([embedding([1.0, 2.0]), refusal(400, message="too long"), embedding([1.0, 1.0])])
    with endpoint(lambda number, body: next(answers)) as served:
        vectors, _ = asked(served_by(tmp_path, served.url, api_slots=1), ["a", "b", "c"])
    assert vectors.any(axis=1).tolist() == [True, False, True]
    bad = ([], ["x"], [True], [0.0], [1e999], None)
    for values in bad:
        with endpoint(lambda number, body, values=values: embedding(values)) as served, refused("garbage"):
            asked(served_by(tmp_path / str(values), served.url, retries=0), ["a"])
    other = Scripted(200, json.dumps({"data": []}).encode())
    with endpoint(lambda number, body: other) as served, refused("garbage"):
        asked(served_by(tmp_path / "none", served.url, retries=0), ["a"])


def test_a_vector_of_the_packaged_encoder_depends_on_no_other_request(tmp_path):
    ramp = np.arange(64 * 48 * 3).reshape(1, 64, 48, 3)
    clips = [((ramp // step % 256).astype(np.uint8), f"{step}") for step in (1, 7, 40, 151, 300)]
    texts = ["a dog", "a person opens the door of a kitchen and goes up", "two cats", "a red ball rolls over a table"]
    whole = asked(settings(tmp_path / "whole"), texts, clips)
    for number, found in enumerate(zip(*whole)):
        alone = asked(settings(tmp_path / f"{number}"), texts[number : number + 1], clips[number : number + 1])
        assert all(np.array_equal(one, given[0]) for one, given in zip(found, alone, strict=True))
