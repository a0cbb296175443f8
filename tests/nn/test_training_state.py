"""A training goes on only with its own state; any other is set aside, with the reason in the log."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from verified.nn.training import BertAdam, TrainingProgress, TrainingState, fingerprint

OWNER = {"code": "1", "settings": "2", "inputs": "3"}
ROWS = [{"epoch": 0, "total": 0.1 + 0.2, "a": None}, {"total": 1e-9, "epoch": 1}]


def network(width=3):
    torch.manual_seed(width)
    model = nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width))
    model.register_buffer("steps", torch.tensor(7))
    return model


def fused_adamw(groups, lr):
    return torch.optim.AdamW(groups, lr=lr, fused=True)


def stepped(model, kind=torch.optim.AdamW, steps=2, optimiser=None):
    optimiser = optimiser or kind([{"params": list(model.parameters()), "weight_decay": 0.1}], lr=0.1)
    for step in range(steps):
        optimiser.zero_grad()
        model(torch.arange(12.0).view(4, 3).sin() + step).square().mean().backward()
        optimiser.step()
    return optimiser


@pytest.fixture
def kept(tmp_path):
    """A state after two steps."""
    state, model = TrainingState(tmp_path / "unfinished.safetensors", OWNER, 0.0), network()
    optimiser = stepped(model)
    state.save(TrainingProgress(2, ROWS, {"best.weight": torch.ones(2)}), model, optimiser)
    return state


@pytest.mark.parametrize("kind", [torch.optim.AdamW, fused_adamw, torch.optim.SGD, BertAdam])
def test_a_restored_training_goes_on_as_if_nothing_had_happened(kind, tmp_path):
    whole, half = network(), network()
    stepped(whole, kind, steps=4)
    state = TrainingState(tmp_path / "state.safetensors", OWNER, 0.0)
    optimiser = stepped(half, kind)
    state.save(TrainingProgress(2, ROWS), half, optimiser)
    again = network()
    fresh = kind([{"params": list(again.parameters()), "weight_decay": 0.1}], lr=0.5)
    assert state.restore(again, fresh).finished == 2
    assert fresh.param_groups[0]["lr"] == 0.1
    for step in (2, 3):
        for model, used in ((again, fresh), (half, optimiser)):
            used.zero_grad()
            model(torch.arange(12.0).view(4, 3).sin() + step).square().mean().backward()
            used.step()
    for name, value in half.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_moments_get_the_layout_of_their_parameters(tmp_path):
    """Fused steps over weights whose channels are last in memory."""

    def images():
        torch.manual_seed(0)
        return nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)

    def step(model, optimiser):
        model(torch.arange(75.0).view(1, 3, 5, 5).sin()).square().mean().backward()
        optimiser.step()

    model, again = images(), images()
    optimisers = [fused_adamw(list(each.parameters()), 0.1) for each in (model, again)]
    state = TrainingState(tmp_path / "state.safetensors", OWNER, 0.0)
    step(model, optimisers[0])
    state.save(TrainingProgress(1, ROWS), model, optimisers[0])
    model.zero_grad()
    state.restore(again, optimisers[1])
    for each, optimiser in zip((model, again), optimisers, strict=True):
        step(each, optimiser)
    assert torch.equal(model.weight, again.weight)


def test_log_and_further_tensors_come_back_as_they_were(kept):
    model = network()
    reached = kept.restore(model, stepped(model, steps=0))
    assert [list(row.items()) for row in reached.rows] == [list(row.items()) for row in ROWS], "in their order"
    assert torch.equal(reached.kept["best.weight"], torch.ones(2))


@pytest.mark.parametrize("part", OWNER)
def test_a_state_of_another_training_is_set_aside(kept, part, caplog):
    model, other = network(), TrainingState(kept.path, {**OWNER, part: "other"}, 0.0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert other.restore(model, stepped(model, steps=0)) == TrainingProgress()
    assert f"unfinished.safetensors was left by a training with other {part}; set aside as" in caplog.text
    assert other.aside.is_file() and not kept.path.is_file()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    other.remove()
    assert not list(kept.path.parent.iterdir())


@pytest.mark.parametrize(
    ("width", "said"), [(4, "tensor 0.weight is [3, 3], not [4, 3]"), (None, "tensor added.weight [1, 1] is missing")]
)
def test_a_state_of_another_network_is_set_aside_whole(kept, width, said, caplog):
    model = network(width or 3)
    if width is None:
        model.added = nn.Linear(1, 1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert kept.restore(model, torch.optim.AdamW(model.parameters())).finished == 0
    assert f"does not fit the model: {said}" in caplog.text
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign", "old"])
def test_a_damaged_state_is_set_aside(kept, damage, caplog):
    content = kept.path.read_bytes()
    if damage == "foreign":
        save_file({"x": torch.ones(1)}, kept.path)
    elif damage == "old":
        save_file({"x": torch.ones(1)}, kept.path, metadata={"verified": '{"signature": "", "history": []}'})
    else:
        kept.path.write_bytes(content[:-9] if damage == "cut" else b"")
    model = network()
    assert kept.restore(model, stepped(model, steps=0)) == TrainingProgress()
    assert "set aside" in caplog.text


def test_inputs_are_told_apart_by_their_bytes(tmp_path):
    for name, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).write_text(text)
    a, b, c = (fingerprint("x", {"k": 1}, [tmp_path / name]) for name in "abc")
    assert a == b and {key for key in a if a[key] != c[key]} == {"inputs"}
    assert fingerprint("x", {"k": 2}, [tmp_path / "a"])["settings"] != a["settings"]
