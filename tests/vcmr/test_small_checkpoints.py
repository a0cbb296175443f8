"""A small model's checkpoint is read back, though its recipe counts further than its tensors are wide."""

import torch
from planted import small_model

from verified.benchmark.vcmr.checkpoint import load_model, save_model


def test_hero_counts_steps_beyond_its_width(tmp_path):
    torch.manual_seed(0)
    model = small_model("hero")
    assert model.config.hard_from_step > max(size for tensor in model.state_dict().values() for size in tensor.shape)
    save_model(tmp_path / "c.safetensors", "hero", model, model.state_dict(), {})
    read, _ = load_model(tmp_path / "c.safetensors")
    for name, tensor in model.state_dict().items():
        assert torch.equal(read.state_dict()[name], tensor), name
