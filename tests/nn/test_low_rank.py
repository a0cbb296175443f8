"""Low-rank adapters: they begin as nothing, learn, and merge into the weights that they stand beside."""

import pytest
import torch
from refusals import refused
from torch import nn

from verified.nn.low_rank import LowRank, attach, linear_layers, merge


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.ModuleDict({"q_proj": nn.Linear(6, 5), "other": nn.Linear(5, 4), "norm": nn.LayerNorm(4)})

    def forward(self, x):
        return self.block["norm"](self.block["other"](torch.tanh(self.block["q_proj"](x))))


def network() -> Network:
    torch.manual_seed(0)
    return Network()


X = torch.linspace(-1, 1, 18).reshape(3, 6)


def adapted(**changes):
    module = network()
    settings = {"rank": 2, "alpha": 4.0, "seed": 7} | changes
    return module, attach(module, linear_layers(module, ["q_proj", "other"]), **settings)


def test_new_adapters_change_nothing_and_are_all_that_is_trained():
    module, adapters = adapted()
    assert torch.equal(module(X), network()(X))
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert sorted(adapters.state_dict()) == [
        f"block/{name}.{side}" for name in ("other", "q_proj") for side in ("down", "up")
    ]
    module(X).sum().backward()
    assert adapters["block/other"].up.grad is not None


def test_they_are_drawn_from_the_seed_and_their_name():
    drawn = [adapted(seed=seed)[1].state_dict() for seed in (7, 7, 8)]
    assert all(torch.equal(drawn[0][name], drawn[1][name]) for name in drawn[0])
    assert not torch.equal(drawn[0]["block/q_proj.down"], drawn[2]["block/q_proj.down"])
    down = LowRank(10_000, 3, 8, 16, 1).down
    assert float(down.detach().abs().max()) <= 0.01 and float(down.detach().abs().mean()) == pytest.approx(
        0.005, rel=0.02
    )


def test_merged_equals_attached_which_equals_the_formula():
    module, adapters = adapted()
    for adapter in adapters.values():
        nn.init.normal_(adapter.up)
    down, up = adapters["block/q_proj"].down, adapters["block/q_proj"].up
    layer = network().block["q_proj"]
    expected = X @ (layer.weight + 4.0 / 2 * up @ down).T + layer.bias
    assert torch.allclose(module.block["q_proj"](X), expected, atol=1e-5)
    merged = network()
    merge(merged, adapters.state_dict(), 4.0 / 2)
    assert torch.allclose(merged(X), module(X), atol=1e-5) and not torch.allclose(merged(X), network()(X), atol=1e-2)


def test_half_precision_stays_half_precision():
    module, adapters = adapted()
    module.to(torch.bfloat16)
    nn.init.normal_(adapters["block/q_proj"].up)
    assert module(X.bfloat16()).dtype == torch.bfloat16 and adapters["block/q_proj"].up.dtype == torch.float32
    merged = network().to(torch.bfloat16)
    merge(merged, adapters.state_dict(), 2.0)
    assert merged.block["q_proj"].weight.dtype == torch.bfloat16
    assert torch.allclose(merged(X.bfloat16()), module(X.bfloat16()), atol=0.1)


def test_what_does_not_fit_is_named():
    with refused("k_proj", remedy=True):
        linear_layers(network(), ["q_proj", "k_proj"])
    tensors = adapted()[1].state_dict()
    with pytest.raises(ValueError, match=r"block\.q_proj"):
        merge(network(), tensors | {"block/q_proj.down": torch.zeros(2, 9)}, 1.0)
    with pytest.raises(ValueError, match=r"block\.norm"):
        merge(network(), {"block/norm.down": torch.zeros(2, 4), "block/norm.up": torch.zeros(4, 2)}, 1.0)
