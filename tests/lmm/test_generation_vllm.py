"""The vLLM engine on tiny models of the classes that config/paper.yaml names; runs where vLLM is (make test-vllm)."""

import contextlib
import dataclasses
import os

import pytest

os.environ |= {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TORCH_COMPILE_DISABLE": "1",
}
pytest.importorskip("vllm", reason="vLLM is not installed here; make test-vllm builds an environment for it")

import numpy as np
import tiny_models
from captioning import jpeg

from verified.config.generation import EngineSettings
from verified.lmm.engines.vllm import VLLM
from verified.lmm.request import Request, Sampling
from verified.lmm.tasks.perturbations import POSITIVES

SHORT = Sampling(max_tokens=8)
VALUES = {"caption": "a dog runs", "count": "3"}
CLIP = np.random.default_rng(0).integers(0, 255, (5, 40, 60, 3), np.uint8)


@contextlib.contextmanager
def engine(folder, **changes):
    """An engine whose processes end with the block."""
    made = VLLM(EngineSettings(engine="vllm", model=folder, max_context_tokens=512, **changes))
    try:
        yield made
    finally:
        if made.llm is not None:
            made.llm.llm_engine.engine_core.shutdown()


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    with engine(tiny_models.mistral(tmp_path_factory.mktemp("mistral"), context=512)) as made:
        yield made


def test_a_schema_constrains_even_random_weights(writer):
    schema = POSITIVES.schema(2)
    schema["properties"] = {name: {"enum": [f"a dog {name}"]} for name in schema["properties"]}
    request = Request("positives", "say it", VALUES, sampling=Sampling(max_tokens=200), schema=schema, seed=1)
    with_schema = next(writer.answer([request]))
    assert '"a dog 1"' in with_schema.text and with_schema.finish == "stop"


def test_a_prompt_too_long_does_not_take_its_batch_with_it(writer):
    asked = [Request("positives", text, VALUES, sampling=SHORT) for text in ("one", "x" * 5000, "three")]
    first, long, third = writer.answer(asked)
    assert (long.finish, long.reason) == ("error", "context-length")
    assert first.finish in ("length", "stop") and third.finish in ("length", "stop")


@pytest.mark.parametrize("kind", ["llava_next", "qwen_vl"])
def test_pictures_and_clips(kind, tmp_path):
    asked = [
        Request("keyframe_description", "look", VALUES, images=(jpeg(40),), sampling=SHORT, seed=1),
        Request("keyframe_description", "look", VALUES, images=(jpeg(40)[:50],), sampling=SHORT, seed=1),
        Request("answers", "watch", VALUES, frames=CLIP, sampling=SHORT, seed=1),
    ]
    with engine(getattr(tiny_models, kind)(tmp_path / kind)) as seeing:
        picture, broken, clip = seeing.answer(asked)
    assert (broken.finish, broken.reason) == ("error", "media")
    assert picture.finish in ("length", "stop") and clip.tokens_in >= picture.tokens_in + 4 * 4


TIMES = tuple(number / 2 for number in range(len(CLIP)))


def test_a_clip_as_one_video_by_the_processors_template(tmp_path):
    """As Qwen2.5-VL was published: its tokenizer's template knows text alone and fails on a list of contents."""
    clip = Request("answers", "watch <|video_pad|>", VALUES, frames=CLIP, frame_times=TIMES, sampling=SHORT, seed=1)
    asked = [clip, dataclasses.replace(clip, frames=CLIP[:2], frame_times=TIMES[:2])]
    with engine(tiny_models.qwen_vl(tmp_path / "qwen"), video_input="frames") as seeing:
        five, two = seeing.answer(asked)
        again = next(seeing.answer(asked[:1]))
        text = next(seeing.answer([Request("positives", "say it", VALUES, sampling=SHORT)]))
    assert {five.finish, two.finish, text.finish} <= {"length", "stop"} and again.text == five.text
    of_two_frames = (five.tokens_in - two.tokens_in) / 2  # five frames are three pairs, the last one half
    assert of_two_frames == int(of_two_frames) >= 1
