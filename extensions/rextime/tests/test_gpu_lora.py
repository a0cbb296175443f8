"""Adapters of a video LMM learn on the GPU (see tests/gpu)."""

import numpy as np
import pytest
import tiny_models
from gpu import conftest as shared
from gpu_device import ON_CPU

from verified.config.generation import EngineSettings
from verified.lmm.request import Request

device = shared.device


def test_adapters_learn_on_the_gpu_as_on_the_cpu(device, tmp_path):
    import torch

    from verified.lmm.engines.transformers import Transformers
    from verified_rextime.config import Lora
    from verified_rextime.fine_tune_lmm import Lesson, adapted, loss_of

    model = tiny_models.qwen_vl(tmp_path)
    frames = np.random.default_rng(0).integers(0, 255, (4, 48, 64, 3), np.uint8)
    request = Request("rextime/score", "What happens?", {}, frames=frames, frame_times=(0.0, 0.5, 1.0, 1.5))
    lesson = Lesson("q", "v", request, "From 0 to 2, it grows")
    losses = []
    for gpu, lora in ((0, Lora(precision="float32", gradient_checkpointing=False)), (0 if ON_CPU else 1, Lora())):
        engine = Transformers(EngineSettings(engine="transformers", model=model, gpu=gpu))
        adapters = adapted(engine, lora, 1)
        loss = loss_of(lesson, engine)
        loss.backward()
        ups = [adapter.up.grad for adapter in adapters.values()]
        assert all(up.device.type == engine.device and torch.isfinite(up).all() and up.any() for up in ups)
        losses.append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
