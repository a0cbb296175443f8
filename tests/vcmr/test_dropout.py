"""Dropout of wide models: share, scale and gradient of PyTorch's, with other draws; narrow models are left alone."""

import pytest
import torch
from torch import nn

from verified.benchmark.vcmr.dropout import Dropout, dropout, use_quick_dropout
from verified.nn.linear import LEAST_WEIGHTS


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_as_much_is_dropped_as_is_asked_for_and_the_rest_is_scaled(share):
    torch.manual_seed(0)
    x = torch.ones(1001, 333, requires_grad=True)  # a number of elements that four do not divide
    out = dropout(x, share)
    out.sum().backward()
    kept = out != 0
    assert kept.float().mean().item() == pytest.approx(1 - share, abs=5 * (share * (1 - share) / x.numel()) ** 0.5)
    assert all(len(side.unique()) == 2 for side in (kept[:500], kept[500:], kept[:, 0], kept[:, -1]))
    torch.testing.assert_close(out[kept], torch.full((int(kept.sum()),), 1 / (1 - share)), rtol=1e-3, atol=0)
    assert out.mean().item() == pytest.approx(1, abs=0.02)
    assert torch.equal(x.grad, out.detach())


def test_draws_follow_the_seed_and_do_not_repeat():
    def drawn(seed):
        torch.manual_seed(seed)
        return dropout(torch.ones(999), 0.5), dropout(torch.ones(999), 0.5)

    assert all(torch.equal(one, other) for one, other in zip(drawn(1), drawn(1)))
    first, second = drawn(2)
    assert not torch.equal(first, second)
    words = first.bool()[:996].view(-1, 4).float()  # the four elements of a word are drawn apart
    assert torch.corrcoef(words.T).fill_diagonal_(0).abs().max() < 0.25


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (1.0, 0.0)])
def test_nothing_or_everything_is_dropped(share, expected):
    assert torch.equal(dropout(torch.ones(5, 3), share), torch.full((5, 3), expected))
    assert dropout(torch.ones(0, 3), share).shape == (0, 3)


def test_only_wide_models_draw_so_and_only_in_training():
    side = int(LEAST_WEIGHTS**0.5)
    narrow = use_quick_dropout(nn.Sequential(nn.Dropout(0.5), nn.Linear(side, side - 1)))
    wide = use_quick_dropout(nn.Sequential(nn.Dropout(0.5), nn.Linear(side, side)))
    assert [type(model[0]) for model in (narrow, wide)] == [nn.Dropout, Dropout]
    x = torch.ones(7, side)
    assert torch.equal(wide.eval()[0](x), x)
    assert not torch.equal(wide.train()[0](x), x)
