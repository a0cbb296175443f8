"""The transformers engine on tiny real model classes; clips as true video, as many frames as a context holds."""

import base64
import io
import random
from types import SimpleNamespace

import av
import numpy as np
import pytest
import tiny_models
from asking_loopback import ask
from asking_loopback import engine as loopback_engine
from captioning import jpeg, settings
from loopback import endpoint
from PIL import Image

from verified.config.generation import EngineSettings
from verified.lmm.client import Call
from verified.lmm.engines.media import remove_control_tokens
from verified.lmm.engines.transformers import Transformers
from verified.lmm.request import Request, Sampling
from verified.lmm.session import Session
from verified.lmm.tasks.dynamics import ANSWERS
from verified.lmm.tasks.perturbations import POSITIVES
from verified.lmm.tasks.statics import KEYFRAME_DESCRIPTION
from verified.lmm.vision_tokens import frame_tokens, llava_next, picture_tokens

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
    folder, asked = model[1], requests_for(model[0])
    together = [reply.text for reply in engine(folder).answer(asked)]
    alone = [next(engine(folder).answer([request])).text for request in reversed(asked)][::-1]
    assert together == alone


def test_any_token_may_be_drawn(tmp_path, monkeypatch):
    drawing, given = engine(tiny_models.mistral(tmp_path / "m")), {}
    drawing.load()
    monkeypatch.setattr(drawing.network, "generate", lambda **words: given.update(words) or words["input_ids"])
    list(drawing.answer(requests_for("mistral")))
    assert given["top_k"] == 0, "by default only the fifty likeliest may"


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


FRAMES = np.stack([np.full((36, 50, 3), 40 * step, np.uint8) for step in range(6)])
EVEN = (0.5, 0.625, 0.75, 0.875, 1.0, 1.125)
UNEVEN = (0.2, 0.3, 0.6, 0.7, 1.1, 1.5)


def asked(tmp_path, times, **changes):
    request = Request(
        "answers", 'what is "a dog runs"?', {"caption": "a dog", "questions": "1. q"}, frames=FRAMES, frame_times=times
    )
    with endpoint() as served:
        ask(tmp_path, loopback_engine(served.url, **changes), [Call(ANSWERS, request)], attempts=1)
    return served.bodies[0]


def test_frames_go_as_one_video_with_their_times(tmp_path):
    body = asked(tmp_path, UNEVEN, video_input="frames")
    (video, text) = body["messages"][0]["content"]
    head, _, files = video["video_url"]["url"].partition(",")
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(file)))) for file in files.split(",")]
    assert head == "data:video/jpeg;base64" and text["type"] == "text"
    assert [round(float(frame.mean()), -1) for frame in shown] == [0, 40, 80, 120, 160, 200]
    facts = body["media_io_kwargs"]["video"]
    assert [0.2 + index / facts["fps"] for index in facts["frames_indices"]] == pytest.approx(UNEVEN)
    assert facts["total_num_frames"] == 131 and facts["num_frames"] == -1 and facts["do_sample_frames"] is False


@pytest.mark.parametrize("times", [EVEN, UNEVEN])
def test_a_video_file_keeps_frames_and_times(tmp_path, times):
    (video, _) = asked(tmp_path, times, video_input="mp4")["messages"][0]["content"]
    head, _, content = video["video_url"]["url"].partition(",")
    assert head == "data:video/mp4;base64"
    with av.open(io.BytesIO(base64.b64decode(content))) as file:
        shown = [(frame.time, frame.to_ndarray(format="rgb24").mean()) for frame in file.decode(video=0)]
    assert [times[0] + time for time, _ in shown] == pytest.approx(times, abs=0.002)
    assert [mean for _, mean in shown] == pytest.approx([0, 40, 80, 120, 160, 200], abs=6)


def test_llava_counts_as_its_processor_does():
    from transformers.image_processing_utils import select_best_resolution
    from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor

    processor = SimpleNamespace(patch_size=14)
    shapes = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
    draw = random.Random(1)
    for _ in range(2000):
        width, height = draw.randrange(30, 2000), draw.randrange(30, 2000)
        rows, columns = (side // 336 for side in select_best_resolution([height, width], shapes))
        parts = LlavaNextProcessor._get_unpadded_features(processor, height, width, 24, 24, rows, columns)
        assert llava_next(width, height) == 576 + sum(parts), (width, height)
    role = EngineSettings(engine="openai", model="llava-hf/llava-v1.6-mistral-7b-hf", base_url="http://h/v1")
    clip = SimpleNamespace(images=(), frames=np.zeros((5, 300, 900, 3), np.uint8))
    assert picture_tokens(role, clip) == 5 * llava_next(900, 300) != 5 * llava_next(300, 900)


def test_qwen_resizes_as_its_processor_does():
    rule = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl", exc_type=ImportError)
    draw = random.Random(2)
    for name, unit, least, most in (("Qwen2.5-VL", 28, 3136, 12_845_056), ("Qwen3-VL", 32, 65_536, 16_777_216)):
        role = EngineSettings(engine="openai", model=f"Qwen/{name}-7B", base_url="http://h/v1")
        for _ in range(1000):
            width, height = draw.randrange(30, 3000), draw.randrange(30, 3000)
            rows, columns = rule.smart_resize(height, width, unit, least, most)
            assert frame_tokens(role, width, height) == rows * columns / unit**2 + 2
