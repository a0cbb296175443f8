"""Linear maps by oneDNN are PyTorch's up to rounding, in results and gradients, and leave everything else alone."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from verified.nn.linear import HAS_ONEDNN, LEAST_WEIGHTS, Linear, library, linear, through_onednn
from verified.runtime import processor

onednn = pytest.mark.skipif(not HAS_ONEDNN, reason="this PyTorch has no oneDNN")


@pytest.fixture(autouse=True)
def by_onednn(monkeypatch):
    """Whoever made this machine's processor."""
    monkeypatch.setattr("verified.nn.linear.BY_ONEDNN", HAS_ONEDNN)


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (0,), (1,)], ids=str)
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_results_and_gradients_are_those_of_pytorch(shape, biased):
    results = []
    for function in (linear, F.linear):
        x, weight, bias = drawn(*shape, 256).requires_grad_(), drawn(320, 256).requires_grad_(), drawn(320)
        bias = bias.requires_grad_() if biased else None
        out = function(x, weight, bias)
        (out * drawn(*out.shape)).sum().backward()
        results.append([out.detach(), x.grad, weight.grad, *([bias.grad] if biased else [])])
    for one, other in zip(*results):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)


def test_a_vector_without_rows_and_a_frozen_weight():
    x, weight = drawn(256).requires_grad_(), drawn(320, 256)
    linear(x, weight).sum().backward()
    torch.testing.assert_close(x.grad, weight.sum(0), rtol=1e-5, atol=1e-4)


@onednn
def test_the_way_of_a_map_depends_on_its_weights_alone(monkeypatch):
    taken = []
    monkeypatch.setattr("verified.nn.linear._product", lambda x, *rest: taken.append(len(x)) or F.linear(x, *rest))
    side = int(LEAST_WEIGHTS**0.5) + 1
    for rows in (1, 300):
        linear(drawn(rows, side), drawn(side, side))
        linear(drawn(rows, 8), drawn(8, 8))
        linear(drawn(rows, side).double(), drawn(side, side).double())
        with torch.autocast("cpu", torch.bfloat16):
            assert linear(drawn(rows, side), drawn(side, side)).dtype == torch.bfloat16
    assert taken == [1, 300]


@onednn
def test_other_processors_take_the_way_of_pytorch(monkeypatch):
    monkeypatch.setattr("verified.nn.linear.BY_ONEDNN", False)
    monkeypatch.setattr("verified.nn.linear._product", lambda *_: pytest.fail("oneDNN was taken"))
    x, weight = drawn(3, 256), drawn(320, 256)
    assert torch.equal(linear(x, weight), F.linear(x, weight))
    assert library(through_onednn(nn.Sequential(nn.Linear(256, 320)))) == "PyTorch"


@onednn
def test_a_checkpoint_can_say_which_library_its_bytes_depend_on():
    wide, narrow = (through_onednn(nn.Sequential(nn.Linear(256, out))) for out in (320, 8))
    assert (library(wide), library(narrow)) == ("oneDNN", "PyTorch")


@pytest.mark.parametrize(
    ("text", "maker"),
    [
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n", "AuthenticAMD"),
        ("processor\t: 0\nvendor_id\t: GenuineIntel\n", "GenuineIntel"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", ""),
        (None, ""),
    ],
)
def test_the_maker_of_the_processor(text, maker, tmp_path, monkeypatch):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "cpuinfo")
    assert processor.vendor.__wrapped__() == maker


def test_wrong_widths_are_refused_as_by_pytorch():
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        linear(drawn(3, 200), drawn(320, 256))


def test_a_model_keeps_its_parameters_and_its_own_kinds_of_maps():
    class Own(nn.Linear):
        pass

    model = nn.Sequential(nn.Linear(256, 256), Own(256, 256), nn.ReLU())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert through_onednn(model) is model
    assert [type(layer) for layer in model] == [Linear, Own, nn.ReLU]
    assert before.keys() == model.state_dict().keys()
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())


@onednn
def test_what_lies_in_pieces_is_put_together_first(monkeypatch):
    whole, rows = drawn(320, 768), drawn(4, 6, 512)
    given = []

    def product(x, weight, *rest):
        given.extend([x, weight])
        return F.linear(x, weight, rest[0])

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", product)
    x, weight = rows[:, ::2, :256].requires_grad_(), whole[:, 256:512].requires_grad_()
    linear(x, weight).sum().backward()  # the gradient of a sum is one number, expanded
    assert len(given) == 6
    assert all(operand.is_contiguous() or operand.T.is_contiguous() for operand in given)
    torch.testing.assert_close(weight.grad, x.detach().sum((0, 1)).expand(320, -1), rtol=1e-5, atol=1e-4)
