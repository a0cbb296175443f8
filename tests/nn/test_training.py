"""The training loop: what one step is, when rows are written, when it ends, and going on after a kill."""

import dataclasses
import json
import math
import os
import signal

import pytest
import torch
from refusals import refused
from torch import nn

from verified.nn.training import Training, TrainingState, train


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
        reached.kept["first"] = module[0].weight.detach().clone()
        module.eval()
        return {"step": step, "loss": math.fsum(term["loss"] for term in terms), "items": [t["items"] for t in terms]}

    given = {
        "label": "trial",
        "module": module,
        "optimiser": torch.optim.SGD(module.parameters(), lr=9.0, momentum=0.9),
        "steps": steps,
        "rate": lambda step: 0.1 / (step + 1),
        "batches": batches,
        "losses": losses,
        "row": row,
        "steps_per_row": 3,
    }
    return Training(**{**given, **more})


def weights(training):
    return torch.cat([parameter.detach().flatten() for parameter in training.module.parameters()])


def test_rows_are_written_every_so_many_steps_and_after_the_last():
    reached = train(make(8))
    assert [row["step"] for row in reached.rows] == [2, 5, 7] and reached.finished == 8
    assert [row["items"] for row in reached.rows] == [[4, 4, 4], [4, 4, 4], [4, 4]]


def test_a_row_may_be_left_out():
    reached = train(make(4, steps_per_row=1, row=lambda step, terms, reached: {"step": step} if step % 2 else None))
    assert reached.rows == [{"step": 1}, {"step": 3}]


@pytest.mark.parametrize("die_at", [0, 1, 3, 4, 6, 7])
def test_killed_anywhere_it_goes_on_to_the_same_weights_and_log(die_at, tmp_path):
    whole = make()
    expected = train(whole)
    state = TrainingState(tmp_path / "state.safetensors", {}, 0.0)
    with pytest.raises(Killed):
        train(make(die_at=die_at), state)
    assert state.path.is_file() == (die_at >= 3)
    again = make()
    reached = train(again, state)
    assert json.dumps(reached.rows) == json.dumps(expected.rows)
    assert torch.equal(weights(again), weights(whole)) and torch.equal(reached.kept["first"], expected.kept["first"])


def test_asked_to_end_it_saves_its_state_and_goes_on_to_the_same_weights(tmp_path):
    """A scheduler that wants the place back sends SIGTERM in step 4; the state is that after the row of step 5."""
    whole = make()
    train(whole)
    state = TrainingState(tmp_path / "state.safetensors", {}, math.inf)
    asked = make()
    losses = asked.losses

    def interrupted(batch, step):
        if step == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return losses(batch, step)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        train(dataclasses.replace(asked, losses=interrupted), state)
    assert ended.value.code == 143 and signal.getsignal(signal.SIGTERM) == before
    seen = []
    again = make()
    train(dataclasses.replace(again, losses=lambda batch, step: seen.append(step) or again.losses(batch, step)), state)
    assert seen == [6, 7] and torch.equal(weights(again), weights(whole))


def test_the_rate_is_that_of_the_step():
    seen = []
    training = make(4)
    rate = training.rate
    train(make(4, rate=lambda step: seen.append(step) or rate(step)))
    assert seen == [0, 1, 2, 3]
    still = make(4, rate=lambda step: 0.0)
    before = weights(still)
    train(still)
    assert torch.equal(before, weights(still))


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


def test_batches_that_end_early_are_no_shorter_training():
    with pytest.raises(ValueError):
        train(make(8, batches=lambda first: iter([[torch.ones(4, 3)]] * 7)))


@pytest.mark.parametrize("of_all", [False, True])
def test_a_loss_that_is_not_finite_is_named(of_all):
    def losses(batch, step):
        loss = torch.tensor(float("nan"), requires_grad=True)
        return (loss.nan_to_num(), {"loss": loss}) if of_all else (loss, {"other": torch.tensor(1.0)})

    names = {"file": "moments.jsonl", "names": lambda batch: ["a/1", "a/2"], "remedy": "look"}
    with refused("step 0", "trial", "nan", "a/1", "a/2", file="moments.jsonl", remedy=True):
        train(make(losses=losses, **names))
