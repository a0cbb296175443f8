"""Dropout of our own: share, scale and gradient of PyTorch's, with other draws."""

import pytest
import torch

from verified.nn.layers import Dropout, attend, dropout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_as_much_is_dropped_as_is_asked_for_and_the_rest_is_scaled(share):
    torch.manual_seed(0)
    x = torch.ones(1001, 333, requires_grad=True)  # a number of elements that four do not divide
    out = dropout(x, share)
    out.sum().backward()
    left = out != 0
    assert left.float().mean().item() == pytest.approx(1 - share, abs=5 * (share * (1 - share) / x.numel()) ** 0.5)
    assert all(len(side.unique()) == 2 for side in (left[:500], left[500:], left[:, 0], left[:, -1]))
    torch.testing.assert_close(out[left], torch.full((int(left.sum()),), 1 / (1 - share)), rtol=1e-3, atol=0)
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


def test_attention_that_drops_next_to_nothing_is_that_without_dropout():
    """Written out, with one weight in 65,536 dropped: outputs and gradients of the fused one, up to the few dropped."""
    torch.manual_seed(3)
    query, key, value = (torch.randn(4, 2, length, 8, requires_grad=True) for length in (5, 7, 7))
    seen = torch.rand(4, 1, 5, 7) < 0.7
    seen[..., 0] = True
    mask = (~seen).float() * -1e9
    gradients = []
    for dropped in (Dropout(0.0), Dropout(2.0**-16)):
        out = attend(query, key, value, dropped, mask)
        gradients.append([out, *torch.autograd.grad(out.square().sum(), (query, key, value))])
    for plain, written in zip(*gradients):
        torch.testing.assert_close(written, plain, rtol=1e-3, atol=1e-4)
