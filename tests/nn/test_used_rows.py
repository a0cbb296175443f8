"""Training of the rows of an embedding that are read: the bytes of a training of all rows, also after a kill."""

import pytest
import torch
from torch import nn

from verified.nn import used_rows
from verified.nn.optimisers import AdamW, BertAdam, DecayFirst, parameter_groups
from verified.nn.training import Training, train
from verified.nn.training_state import TrainingState
from verified.nn.used_rows import can_divide, only_used_rows

ROWS, STEPS = 203, 9
READ = [0, 3, 11, 12, 50, 128, 201]


class Killed(Exception):
    pass


class Network(nn.Module):
    """Reads a table of words twice a step, with dropout."""

    def __init__(self, width=48, **options):
        super().__init__()
        torch.manual_seed(3)
        self.before = nn.Linear(2, width)
        self.inner = nn.Sequential(nn.Embedding(ROWS, width, **options), nn.Dropout(0.3))
        self.after = nn.Linear(width, 1)

    def forward(self, ids):
        seen = self.before(torch.ones(2)) + self.inner(ids)
        return self.after(seen.tanh()).mean() + self.inner[0](ids[:, :1]).square().mean()


def batch(step):
    """Ids [4, 3] of a step; every third step has the first words of `READ` alone."""
    known = torch.tensor(READ[:2] if step % 3 == 2 else READ)
    return known[torch.randint(len(known), (4, 3), generator=torch.Generator().manual_seed(step))]


def trained(used, folder, kind=AdamW, width=48, clip_norm=0.05, die_at=None, **options):
    """Weights after each row of the log and at the end, and the log; `used` None: all rows are trained."""
    network, snapshots = Network(width, **options), {}

    def losses(ids, step):
        torch.manual_seed(step)
        if step == die_at:
            raise Killed
        loss = 20 * network(ids)
        return loss, {"loss": loss}

    def row(step, terms, reached):
        state = network.state_dict()
        snapshots[step] = {name: tensor.clone() for name, tensor in state.items()}
        return {"step": step, "losses": [term["loss"] for term in terms]}

    def run():
        return train(
            Training(
                label="trial",
                module=network,
                optimiser=optimiser,
                steps=STEPS,
                rate=lambda step: 0.03 * (STEPS - step) / STEPS,
                batches=lambda first: ([batch(step)] for step in range(first, STEPS)),
                losses=losses,
                row=row,
                steps_per_row=2,
                clip_norm=clip_norm,
            ),
            TrainingState(folder / "state.safetensors", {"of": "trial"}, seconds=0.0),
        )

    def make():
        return kind(parameter_groups(network.named_parameters(), 0.01), lr=1.0, betas=(0.9, 0.98))

    if used is None:
        optimiser = make()
        reached = run()
    else:
        with only_used_rows(network, "inner.0", used) as rows:
            optimiser = make()
            rows.follow(optimiser)
            reached = run()
    assert type(network.inner[0]) is nn.Embedding
    snapshots["end"] = network.state_dict()
    return snapshots, reached.rows


def assert_same(plain, narrow):
    (snapshots, log), (others, other_log) = plain, narrow
    assert log == other_log
    for when in others:
        assert list(snapshots[when]) == list(others[when])
        for name, tensor in snapshots[when].items():
            assert torch.equal(tensor.view(torch.int32), others[when][name].view(torch.int32)), (when, name)


@pytest.mark.parametrize("kind", [AdamW, BertAdam, DecayFirst])
@pytest.mark.parametrize("width", [16, 48, 64])
def test_the_whole_table_has_the_bytes_of_a_training_of_all_rows(tmp_path, kind, width):
    plain = trained(None, tmp_path / "plain", kind, width)
    assert_same(plain, trained(READ, tmp_path / "narrow", kind, width))
    table = plain[0]["end"]["inner.0.weight"]
    start = Network(width).inner[0].weight
    assert not torch.equal(table[READ], start[READ])
    assert not torch.equal(table[4:10], start[4:10]), "rows that nothing reads decay"


@pytest.mark.parametrize("more", [{"clip_norm": None}, {"padding_idx": 11}, {"padding_idx": 77}])
def test_it_does_so_without_clipping_and_with_a_row_of_padding(tmp_path, more):
    assert_same(trained(None, tmp_path / "plain", **more), trained(READ, tmp_path / "narrow", **more))


def test_it_does_so_where_the_last_row_is_read_and_where_all_are(tmp_path):
    plain = trained(None, tmp_path / "plain")
    assert_same(plain, trained([*READ, ROWS - 1], tmp_path / "last"))
    assert_same(plain, trained(range(ROWS), tmp_path / "all"))


def test_it_does_so_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr(used_rows, "BLOCK", 1000)
    assert_same(trained(None, tmp_path / "plain"), trained(READ, tmp_path / "narrow"))


@pytest.mark.parametrize("die_at", [3, 7])
def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path, die_at):
    plain = trained(None, tmp_path / "plain")
    with pytest.raises(Killed):
        trained(READ, tmp_path / "killed", die_at=die_at)
    again = trained(READ, tmp_path / "killed")
    assert min(when for when in again[0] if when != "end") > 1, "it went on and did not start over"
    assert_same(plain, again)


def test_a_step_without_a_gradient_decays_nothing():
    network = Network()
    start = network.inner[0].weight.detach().clone()
    with only_used_rows(network, "inner.0", READ) as rows:
        optimiser = AdamW(parameter_groups(network.named_parameters(), 0.01), lr=0.1)
        rows.follow(optimiser)
        network.after(torch.ones(48)).sum().backward()
        optimiser.step()
        assert torch.equal(network.state_dict()["inner.0.weight"], start)


def test_a_row_that_is_not_in_use_cannot_be_read():
    network = Network()
    with only_used_rows(network, "inner.0", READ), pytest.raises(IndexError):
        network(torch.tensor([[5]]))


def test_few_rows_are_trained():
    network = Network()
    with only_used_rows(network, "inner.0", READ):
        assert [tuple(parameter.shape) for parameter in network.inner.parameters()] == [(len(READ), 48)]


class Tied(Network):
    def __init__(self):
        super().__init__()
        self.other = nn.Linear(48, ROWS)
        self.other.weight = self.inner[0].weight


@pytest.mark.parametrize(
    "network",
    [
        Network(20),
        Network(max_norm=1.0),
        Network(sparse=True),
        Network(scale_grad_by_freq=True),
        Network().double(),
        Tied(),
    ],
    ids=["narrow vectors", "max_norm", "sparse", "scale_grad_by_freq", "double", "tied"],
)
def test_tables_that_would_train_otherwise_are_refused(network):
    assert can_divide(Network(), "inner.0")
    assert not can_divide(network, "inner.0")
    with pytest.raises(ValueError, match=r"inner\.0"), only_used_rows(network, "inner.0", READ):
        pass
