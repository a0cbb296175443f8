from pathlib import Path

import numpy as np
import pytest
import torch
from torch.optim import AdamW

from verified.nn.training import (
    BertAdam,
    cosine_multiplier,
    linear_multiplier,
    one_dimensional,
    parameter_groups,
)

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"


@pytest.mark.parametrize(
    ("kind", "optimiser", "betas", "apart"),
    [
        ("bertadam", BertAdam, (0.9, 0.999), 1e-6),
        # The official ones decay after a step, PyTorch's before it: rate² · decay apart, forty times.
        ("adamw", AdamW, (0.9, 0.999), 4e-5),
        ("adamw_hero_betas", AdamW, (0.9, 0.98), 4e-5),
    ],
)
def test_forty_steps_are_the_official_ones(kind, optimiser, betas, apart):
    with np.load(FIXTURES / "optimizers.npz") as golden:
        names = [key.removeprefix("init.") for key in golden if key.startswith("init.")]
        parameters = {name: torch.nn.Parameter(torch.from_numpy(golden[f"init.{name}"])) for name in names}
        steps = optimiser(parameter_groups(parameters.items(), 0.01), lr=1e-2, betas=betas, eps=1e-6)
        for step in range(40):
            for name, parameter in parameters.items():
                parameter.grad = torch.from_numpy(golden[f"grad.{name}"][step])
            for group in steps.param_groups:
                group["lr"] = 1e-2 * (linear_multiplier(step, 40, 0.1) if kind == "bertadam" else 1.0)
            steps.step()
            for name, parameter in parameters.items():
                np.testing.assert_allclose(
                    parameter.detach().numpy(), golden[f"{kind}.{name}"][step], atol=apart, rtol=0
                )


def test_learning_rate_curves_are_the_official_ones():
    with np.load(FIXTURES / "optimizers.npz") as golden:
        bert = golden["bertadam_lr_multiplier_t1000_warm0.01"]
        hero = golden["hero_lr_multiplier_step1to5000"]
    np.testing.assert_allclose([linear_multiplier(step, 1000, 0.01) for step in range(1000)], bert, atol=1e-12)
    np.testing.assert_allclose([linear_multiplier(step, 5000, 0.1, 1e-8) for step in range(1, 5001)], hero, atol=1e-12)
    assert linear_multiplier(0, 1000, 0.01) == 0.0


def test_only_biases_and_layer_norms_of_that_spelling_are_spared_from_decay():
    names = ("a.bias", "x.LayerNorm.weight", "video_cross_layernorm.weight", "conv.weight")
    tensors = {name: torch.nn.Parameter(torch.zeros(1)) for name in names}
    tensors["frozen.weight"] = torch.nn.Parameter(torch.zeros(1), requires_grad=False)
    decayed, spared = parameter_groups(tensors.items(), 0.01)
    assert decayed["params"] == [tensors["video_cross_layernorm.weight"], tensors["conv.weight"]]
    assert spared["params"] == [tensors["a.bias"], tensors["x.LayerNorm.weight"]]
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.01, 0.0)


def test_umt_spares_what_has_one_dimension_and_not_the_temperature():
    shapes = {"norm.weight": (3,), "linear.bias": (3,), "linear.weight": (3, 3), "temperature": ()}
    tensors = {name: torch.nn.Parameter(torch.zeros(shape)) for name, shape in shapes.items()}
    decayed, spared = parameter_groups(tensors.items(), 0.02, one_dimensional)
    assert decayed["params"] == [tensors["linear.weight"], tensors["temperature"]]
    assert spared["params"] == [tensors["norm.weight"], tensors["linear.bias"]]


def test_a_cosine_rises_from_its_floor_and_falls_towards_it():
    curve = [cosine_multiplier(step, 100, 10) for step in range(100)]
    assert curve[0] == 0.01 and max(curve) == curve[10] == 1.0 and curve[9] < 1
    assert curve[55] == pytest.approx(0.505) and 0.01 < curve[99] < 0.011
