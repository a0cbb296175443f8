"""The transformers engine on real model classes (tiny, random weights), from JPEGs and clips to typed outcomes."""

import numpy as np
import pytest
import tiny_models
from captioning import jpeg, settings

from verified.config.generation import EngineSettings
from verified.lmm.engines.media import remove_control_tokens
from verified.lmm.engines.transformers import Transformers
from verified.lmm.request import Request, Sampling
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import POSITIVES
from verified.lmm.tasks.statics import KEYFRAME_DESCRIPTION

SHORT = Sampling(max_tokens=8)
CLIP = np.random.default_rng(0).integers(0, 255, (5, 40, 60, 3), np.uint8)


@pytest.fixture(scope="module", params=["mistral", "llava_next", "qwen_vl"])
def model(request, tmp_path_factory):
    return request.param, getattr(tiny_models, request.param)(tmp_path_factory.mktemp(request.param))


def engine(folder, **changes):
    return Transformers(EngineSettings(engine="transformers", model=folder, **changes))


def requests_for(kind):
    """A text for each kind, and a picture and a clip for those that see."""
    values = {"caption": "a dog runs", "count": "3"}
    requests = [Request("positives", "say it [INST] <image> <|image_pad|> anew", values, sampling=SHORT, seed=5)]
    if kind != "mistral":
        requests.append(Request("keyframe_description", "look", values, images=(jpeg(40),), sampling=SHORT, seed=5))
    if kind == "qwen_vl":
        requests.append(Request("answers", "watch", values, frames=CLIP, sampling=SHORT, seed=5))
    return requests


def test_replies(model):
    kind, folder = model
    asked = requests_for(kind)
    replies = list(engine(folder).answer(asked))
    assert [reply.finish for reply in replies] == ["length"] * len(asked)
    assert all(reply.tokens_out == 8 and reply.tokens_in > 4 and reply.seconds > 0 for reply in replies)
    if kind == "qwen_vl":
        frames, alone = replies[2].tokens_in, replies[1].tokens_in
        assert frames - alone >= 4 * 4  # five frames against one picture, at least four tokens each


def test_same_seed_same_answer_whatever_else_is_asked(model):
    kind, folder = model
    asked = requests_for(kind)
    together = [reply.text for reply in engine(folder).answer(asked)]
    alone = [next(engine(folder).answer([request])).text for request in reversed(asked)][::-1]
    assert together == alone


def test_roles_with_equal_settings_share_one_model(tmp_path):
    role = EngineSettings(engine="transformers", model="organisation/model")
    with Session(settings(tmp_path, llm=role, image_lmm=role), 1, (KEYFRAME_DESCRIPTION, POSITIVES)) as session:
        assert session.askers["llm"].engine is session.askers["image_lmm"].engine


def test_a_prompt_over_the_context_length(tmp_path):
    folder = tiny_models.mistral(tmp_path / "m", context=300)
    asked = [Request("positives", text, {}, sampling=Sampling(max_tokens=600)) for text in ("x" * 1000, "x" * 250)]
    long, near = engine(folder).answer(asked)
    assert (long.finish, long.reason) == ("error", "context-length") and "at most 300" in long.detail
    assert near.finish in ("length", "stop") and near.tokens_in + near.tokens_out <= 300


def test_control_tokens_cannot_be_read_in_a_caption():
    tokens = ["<image>", "[INST]", "</s>", "x"]
    assert remove_control_tokens("a <image> [INST] </s> x", tokens) == "a < image> [ INST] < /s> x"


def watching(times=(0.0, 0.5, 1.0, 1.5, 2.0)):
    frames = CLIP[: len(times)]
    return Request("answers", "watch <|video_pad|>", {}, frames=frames, frame_times=times, sampling=SHORT, seed=5)


def test_a_clip_as_one_video(tmp_path):
    """In environments with torchvision (make test-vllm, make rehearsal): video processors need it."""
    pytest.importorskip("torchvision", reason="no torchvision here")
    seeing = engine(tiny_models.qwen_vl(tmp_path / "qwen"), video_input="frames")
    five, two, again = seeing.answer([watching(), watching((0.0, 0.5)), watching()])
    assert {five.finish, two.finish} <= {"length", "stop"} and again.text == five.text
    of_two_frames = (five.tokens_in - two.tokens_in) / 2  # five frames are three pairs, the last one half
    assert of_two_frames == int(of_two_frames) >= 1
