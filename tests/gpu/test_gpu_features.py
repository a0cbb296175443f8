"""ResNet-152 at full size, with random weights."""

import time

import numpy as np
import pytest
import torch
from gpu_device import ON_CPU, most_gigabytes, wait
from transformers import ResNetConfig, ResNetModel

from verified.features.hub_models import ImageModel

FRAMES = 2 if ON_CPU else 256


def test_resnet_152(device, report, tmp_path):
    torch.manual_seed(0)
    config = ResNetConfig(depths=[1, 1, 1, 1]) if ON_CPU else ResNetConfig(depths=[3, 8, 36, 3])
    ResNetModel(config).save_pretrained(tmp_path)
    frames = np.random.default_rng(0).integers(0, 256, (FRAMES, 224, 224, 3), dtype=np.uint8)
    features = {}
    for precision in ("float32", "bfloat16"):
        backbone = ImageModel(str(tmp_path), precision)
        backbone(frames)  # the first batch of a size chooses its kernels
        wait()
        started = time.perf_counter()
        features[precision] = backbone(frames)
        rate = FRAMES / (time.perf_counter() - started)
        assert features[precision].shape == (FRAMES, 2048)
        report(f"ResNet-152, {precision}: {rate:.0f} frames/s, {most_gigabytes():.1f} GB")
    cosine = (features["float32"] * features["bfloat16"]).sum(1)
    cosine /= np.linalg.norm(features["float32"], axis=1) * np.linalg.norm(features["bfloat16"], axis=1)
    assert cosine.min() > 0.99


def test_the_gpu_is_what_jobs_would_use(device):
    if ON_CPU:
        pytest.skip("on the CPU there is nothing to see")
    from verified.runtime.gpu_leases import machine_devices

    assert machine_devices(), "torch sees a GPU that the jobs' leases do not"
