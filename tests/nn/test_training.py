"""The training loop: steps, rows, the end, resuming after a kill; and our checkpoints, refused in other forms."""

import dataclasses
import json
import math
import os
import signal

import numpy as np
import pytest
import torch
from refusals import refused
from safetensors.torch import save_file
from torch import nn
from torch.optim import AdamW
from vcmr_golden import FOLDER

from verified.benchmark.vcmr import checkpoint as retrieval
from verified.evaluator import checkpoint as evaluator
from verified.nn.checkpoint import KEY, Form, fill, load, load_facts, load_tensors, save
from verified.nn.training import FORM as STATE
from verified.nn.training import (
    BertAdam,
    Training,
    TrainingProgress,
    TrainingState,
    cosine_multiplier,
    linear_multiplier,
    one_dimensional,
    parameter_groups,
    train,
)


class Killed(Exception):
    pass


def make(steps=8, die_at=None, **more):
    """A training with dropout on batches of four rows; every third step ends a row."""
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))

    def batches(first):
        for step in range(first, steps):
            if step == die_at:
                raise Killed
            yield [torch.arange(12.0).view(4, 3).add(step).sin()]

    def losses(batch, step):
        torch.manual_seed(step)
        assert module.training
        loss = module(batch).square().mean()
        return loss, {"loss": loss, "items": len(batch)}

    def row(step, terms, reached):
        reached.extra["first"] = module[0].weight.detach().clone()
        module.eval()
        return {"step": step, "loss": math.fsum(term["loss"] for term in terms), "items": [t["items"] for t in terms]}

    optimiser = torch.optim.SGD(module.parameters(), lr=9.0, momentum=0.9)
    loop = {"batches": batches, "losses": losses, "row": row, "steps_per_row": 3, "rate": lambda step: 0.1 / (step + 1)}
    return Training(**{"label": "trial", "module": module, "optimiser": optimiser, "steps": steps, **loop, **more})


def weights(training):
    return torch.cat([parameter.detach().flatten() for parameter in training.module.parameters()])


@pytest.mark.parametrize("die_at", [0, 1, 3, 4, 6, 7])
def test_killed_anywhere_it_goes_on_to_the_same_weights_and_log(die_at, tmp_path):
    whole = make()
    expected = train(whole)
    assert [(row["step"], len(row["items"])) for row in expected.rows] == [(2, 3), (5, 3), (7, 2)]
    state = TrainingState(tmp_path / "state.safetensors", {}, 0.0)
    with pytest.raises(Killed):
        train(make(die_at=die_at), state)
    assert state.path.is_file() == (die_at >= 3)
    again = make()
    reached = train(again, state)
    assert json.dumps(reached.rows) == json.dumps(expected.rows)
    assert torch.equal(weights(again), weights(whole)) and torch.equal(reached.extra["first"], expected.extra["first"])


def test_on_sigterm_it_saves_its_state_and_goes_on_to_the_same_weights(tmp_path):
    """A scheduler that wants the place back sends SIGTERM in step 4; the state is that after the row of step 5."""
    whole = make()
    train(whole)
    state = TrainingState(tmp_path / "state.safetensors", {}, math.inf)
    stopped = make()
    losses = stopped.losses

    def interrupted(batch, step):
        if step == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return losses(batch, step)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        train(dataclasses.replace(stopped, losses=interrupted), state)
    assert ended.value.code == 143 and signal.getsignal(signal.SIGTERM) == before
    seen = []
    again = make()
    train(dataclasses.replace(again, losses=lambda batch, step: seen.append(step) or again.losses(batch, step)), state)
    assert seen == [6, 7] and torch.equal(weights(again), weights(whole))


def test_gradients_of_several_batches_are_those_of_one(tmp_path):
    def halves(first):
        for step in range(first, 8):
            yield iter(torch.arange(12.0).view(4, 3).add(step).sin().split(2))

    plain = {"steps_per_row": 8, "row": lambda *_: None}
    one, two = make(**plain), make(batches=halves, accumulate=2, **plain)
    for training in (one, two):
        training.module[1].p = 0.0
        train(training)
    torch.testing.assert_close(weights(one), weights(two))


def test_gradients_are_cut_to_a_norm():
    training = make(1, clip_norm=1e-3, rate=lambda step: 1.0)
    before = weights(training)
    train(training)
    assert (weights(training) - before).norm() == pytest.approx(1e-3, rel=1e-3)


def test_rows_may_end_it_and_no_state_is_saved_then(tmp_path):
    state = TrainingState(tmp_path / "state.safetensors", {}, 0.0)
    reached = train(make(100, over=lambda rows: len(rows) == 2), state)
    assert reached.finished == 6 and len(reached.rows) == 2
    assert TrainingState(state.path, {}, 0.0).restore(make().module, make().optimiser).finished == 3


@pytest.mark.parametrize("of_all", [False, True])
def test_a_loss_that_is_not_finite_is_named(of_all):
    def losses(batch, step):
        loss = torch.tensor(float("nan"), requires_grad=True)
        return (loss.nan_to_num(), {"loss": loss}) if of_all else (loss, {"other": torch.tensor(1.0)})

    names = {"file": "moments.jsonl", "names": lambda batch: ["a/1", "a/2"], "remedy": "look"}
    with refused("step 0", "trial", "nan", "a/1", "a/2", file="moments.jsonl", remedy=True):
        train(make(losses=losses, **names))


OWNER = {"code": "1", "settings": "2", "inputs": "3"}
ROWS = [{"epoch": 0, "total": 0.1 + 0.2, "a": None}, {"total": 1e-9, "epoch": 1}]


def network():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    model.register_buffer("steps", torch.tensor(7))
    return model


def stepped(model, steps=2):
    optimiser = AdamW([{"params": list(model.parameters()), "weight_decay": 0.1}], lr=0.1)
    for step in range(steps):
        optimiser.zero_grad()
        model(torch.arange(12.0).view(4, 3).sin() + step).square().mean().backward()
        optimiser.step()
    return optimiser


@pytest.fixture
def saved(tmp_path):
    state, model = TrainingState(tmp_path / "unfinished.safetensors", OWNER, 0.0), network()
    optimiser = stepped(model)
    state.save(TrainingProgress(2, ROWS, {"best.weight": torch.ones(2)}), model, optimiser)
    return state


def test_moments_get_the_layout_of_their_parameters(tmp_path):
    """Fused steps over weights whose channels are last in memory."""

    def images():
        torch.manual_seed(0)
        return nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)

    def step(model, optimiser):
        model(torch.arange(75.0).view(1, 3, 5, 5).sin()).square().mean().backward()
        optimiser.step()

    model, again = images(), images()
    optimisers = [AdamW(each.parameters(), 0.1, fused=True) for each in (model, again)]
    state = TrainingState(tmp_path / "state.safetensors", OWNER, 0.0)
    step(model, optimisers[0])
    state.save(TrainingProgress(1, ROWS), model, optimisers[0])
    model.zero_grad()
    state.restore(again, optimisers[1])
    for each, optimiser in zip((model, again), optimisers, strict=True):
        step(each, optimiser)
    assert torch.equal(model.weight, again.weight)


@pytest.mark.parametrize("part", [*OWNER, "run"])
def test_a_state_of_another_training_is_set_aside(saved, part, caplog):
    model, other = network(), TrainingState(saved.path, {**OWNER, part: "other"}, 0.0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert other.restore(model, stepped(model, steps=0)) == TrainingProgress()
    assert f"unfinished.safetensors was left by a training with other {part}; set aside as" in caplog.text
    assert other.aside.is_file() and not saved.path.is_file()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    other.remove()
    assert not list(saved.path.parent.iterdir())


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign", "old"])
def test_a_damaged_state_is_set_aside(saved, damage, caplog):
    content = saved.path.read_bytes()
    if damage == "foreign":
        save_file({"x": torch.ones(1)}, saved.path)
    elif damage == "old":
        save_file({"x": torch.ones(1)}, saved.path, metadata={"verified": '{"signature": "", "history": []}'})
    else:
        saved.path.write_bytes(content[:-9] if damage == "cut" else b"")
    model = network()
    assert saved.restore(model, stepped(model, steps=0)) == TrainingProgress()
    assert "set aside" in caplog.text


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
    with np.load(FOLDER / "optimizers.npz") as golden:
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
    with np.load(FOLDER / "optimizers.npz") as golden:
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
    assert curve[0] == 0.01 and max(curve) == curve[10] == 1.0
    assert curve[:11] == sorted(set(curve[:11]))
    assert curve[55] == pytest.approx(0.505) and 0.01 < curve[99] < 0.011


FORM = Form("network", 3, "train it again")
FORMS = [FORM, STATE, evaluator.FORM, retrieval.FORM]
FACTS = {"b": 1, "a": {"z": None, "y": [0.1 + 0.2]}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.safetensors"


def test_tensors_and_facts_come_back_and_equal_ones_have_equal_bytes(path):
    shared = torch.arange(6.0).view(2, 3)
    tensors = {"t": shared.T, "s": shared, "h": torch.ones(2, dtype=torch.float16), "n": torch.tensor(7)}
    save(path, FORM, tensors, FACTS)
    content = path.read_bytes()
    read, facts = load(path, FORM)
    assert facts == FACTS and facts == load_facts(path, FORM)
    assert read.keys() == tensors.keys() == load_tensors(path).keys()
    assert all(torch.equal(read[name], value) and read[name].dtype == value.dtype for name, value in tensors.items())
    save(path, FORM, tensors, FACTS)
    assert path.read_bytes() == content


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("version", [-1, 0, 99, None, "1", True])
def test_another_version_is_refused_with_what_to_do(path, form, version):
    header = {"format": form.name, "version": version} if version is not None else {"format": form.name}
    save_file({"x": torch.ones(1)}, path, metadata={KEY: json.dumps(header)})
    for read in (load, load_facts):
        with refused(form.name, form.version, file=path, remedy=True):
            read(path, form)


@pytest.mark.parametrize("metadata", [None, {KEY: "{}"}, {KEY: '{"format": "vlg-net", "version": 1}'}, {"x": "y"}])
def test_another_form_is_refused_with_what_to_do(path, metadata):
    save_file({"x": torch.ones(1)}, path, metadata=metadata)
    with refused("network", file=path, remedy=True):
        load(path, FORM)
    assert load_tensors(path)["x"] == 1


@pytest.mark.parametrize(
    ("tensors", "named"),
    [
        ({"weight": torch.ones(2, 3)}, "bias [2] is missing"),
        ({"weight": torch.ones(2, 4), "bias": torch.ones(2)}, "weight is [2, 4], not [2, 3]"),
        ({"weight": torch.ones(2, 3), "bias": torch.ones(2), "more": torch.ones(1)}, "more is unknown"),
    ],
)
def test_a_network_is_filled_whole_or_not_at_all(path, tensors, named):
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()
    with refused(named, file=path):
        fill(module, tensors, "the network", path)
    assert torch.equal(before, module.weight)
