"""Text generation on the GPU: the transformers engine on tiny models, vLLM where it is installed."""

import os

import numpy as np
import pytest
import tiny_models
from captioning import jpeg
from gpu_device import ON_CPU

from verified.config.generation import EngineSettings
from verified.lmm.request import Request, Sampling

GPUS = 0 if ON_CPU else 1
SHORT = Sampling(max_tokens=8)
TIMES = (0.0, 0.5, 1.0, 1.5, 2.0)
CLIP = np.random.default_rng(0).integers(0, 255, (5, 40, 60, 3), np.uint8)
ASKED = {
    "mistral": Request("positives", "say it anew", {"caption": "a dog", "count": "3"}, sampling=SHORT, seed=5),
    "llava_next": Request("keyframe_description", "look", {"caption": "a dog"}, (jpeg(40),), sampling=SHORT, seed=5),
    "qwen_vl": Request("answers", "watch", {"caption": "a dog"}, (), CLIP, TIMES, sampling=SHORT, seed=5),
}
KINDS = [*((kind, "stills") for kind in ASKED), ("qwen_vl", "frames")]


@pytest.mark.parametrize(("kind", "video_input"), KINDS)
def test_transformers_on_the_gpu(device, tmp_path, kind, video_input):
    if video_input == "frames":
        pytest.importorskip("torchvision", reason="no torchvision here, which video parts of models need")
    from verified.lmm.engines.transformers import Transformers

    folder = getattr(tiny_models, kind)(tmp_path)
    engine = Transformers(EngineSettings(engine="transformers", model=folder, gpu=GPUS, video_input=video_input))
    first, again = (next(iter(engine.answer([ASKED[kind]]))) for _ in range(2))
    assert next(engine.network.parameters()).device.type == device.type
    assert first.finish in ("length", "stop") and first.tokens_out
    assert first.text == again.text, "the same seed on the same device"


@pytest.mark.parametrize(("kind", "video_input"), KINDS)
def test_vllm_on_the_gpu(device, tmp_path, kind, video_input, monkeypatch):
    pytest.importorskip("vllm", reason="vLLM is not installed here (envs/generation-cuda.yaml)")
    for name in ("HF_HUB_OFFLINE", "VLLM_NO_USAGE_STATS"):
        monkeypatch.setitem(os.environ, name, "1")
    from verified.lmm.engines.vllm import VLLM

    folder = getattr(tiny_models, kind)(tmp_path)
    sizes = {"gpu": GPUS, "gpu_memory_share": 0.3, "max_context_tokens": 512}
    engine = VLLM(EngineSettings(engine="vllm", model=folder, video_input=video_input, **sizes))
    try:
        reply = next(iter(engine.answer([ASKED[kind]])))
    finally:
        if engine.llm is not None:
            engine.llm.llm_engine.engine_core.shutdown()
    assert reply.finish in ("length", "stop") and reply.tokens_in > 4
