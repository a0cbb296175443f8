import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from verified.nn.optimisers import (
    AdamW,
    BertAdam,
    DecayFirst,
    cosine_multiplier,
    linear_multiplier,
    one_dimensional,
    parameter_groups,
)

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"


@pytest.mark.parametrize(
    ("kind", "optimiser", "betas"),
    [("bertadam", BertAdam, (0.9, 0.999)), ("adamw", AdamW, (0.9, 0.999)), ("adamw_hero_betas", AdamW, (0.9, 0.98))],
)
def test_forty_steps_are_the_official_ones(kind, optimiser, betas):
    with np.load(FIXTURES / "optimizers.npz") as golden:
        names = [key.removeprefix("init.") for key in golden if key.startswith("init.")]
        parameters = {name: torch.nn.Parameter(torch.from_numpy(golden[f"init.{name}"])) for name in names}
        steps = optimiser(parameter_groups(parameters.items(), 0.01), lr=1e-2, betas=betas)
        for step in range(40):
            for name, parameter in parameters.items():
                parameter.grad = torch.from_numpy(golden[f"grad.{name}"][step])
            for group in steps.param_groups:
                group["lr"] = 1e-2 * (linear_multiplier(step, 40, 0.1) if kind == "bertadam" else 1.0)
            steps.step()
            for name, parameter in parameters.items():
                np.testing.assert_allclose(parameter.detach().numpy(), golden[f"{kind}.{name}"][step], atol=1e-6)


def test_the_optimiser_of_the_evaluator_has_the_bytes_of_pytorchs():
    drawn = torch.Generator().manual_seed(5)
    start = [torch.randn(shape, generator=drawn) for shape in ((33, 48), (48,), ())]
    both = [[torch.nn.Parameter(tensor.clone()) for tensor in start] for _ in range(2)]

    def groups(parameters):
        return [{"params": parameters[:2], "weight_decay": 0.02}, {"params": parameters[2:], "weight_decay": 0.0}]

    ours = DecayFirst(groups(both[0]), lr=1.0, betas=(0.9, 0.98))
    theirs = torch.optim.AdamW(groups(both[1]), lr=1.0, betas=(0.9, 0.98), foreach=False)
    for step in range(60):
        gradients = [torch.randn(tensor.shape, generator=drawn) for tensor in start]
        for optimiser, parameters in zip((ours, theirs), both):
            for group in optimiser.param_groups:
                group["lr"] = 1e-2 / (step + 1)
            for number, (parameter, gradient) in enumerate(zip(parameters, gradients)):
                parameter.grad = None if number == 1 and step % 4 == 0 else gradient.clone()
            optimiser.step()
        assert all(torch.equal(one, other) for one, other in zip(*both, strict=True)), step


def test_a_training_loads_no_compiler():
    """Torch's compiler takes a second to import, and its optimisers would."""
    code = """
import sys, torch
from verified.nn.optimisers import AdamW, BertAdam, DecayFirst, parameter_groups
for kind in (AdamW, BertAdam, DecayFirst):
    layer = torch.nn.Linear(2, 2)
    steps = kind(parameter_groups(layer.named_parameters(), 0.01), lr=0.1)
    layer(torch.ones(2)).sum().backward()
    steps.step()
    steps.zero_grad()
    steps.load_state_dict(steps.state_dict())
sys.exit("torch._dynamo" in sys.modules)
"""
    scripts = Path(__file__).resolve().parents[2] / "scripts"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(scripts)}).returncode == 0


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
