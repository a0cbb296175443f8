"""Our layers: BERT's against those of transformers, byte for byte, and dropout of our own."""

import numpy as np
import pytest
import torch
from transformers import BertConfig
from transformers.models.bert import modeling_bert

from verified.benchmark.vcmr.data import load_tokeniser
from verified.nn.bert import BertEmbeddings, BertLayer, BertSize, key_mask
from verified.nn.layers import Dropout, attend, dropout
from verified.nn.mini_lm import folder
from verified.nn.sentences import encode, weights_digest

SIZE = BertSize(width=96, layers=2, heads=6, feed_forward=160, vocabulary=50, positions=20)


class Stack(torch.nn.Module):
    def __init__(self, embeddings, layer, size):
        super().__init__()
        self.embeddings = embeddings(size)
        self.layers = torch.nn.ModuleList(layer(size) for _ in range(SIZE.layers))

    def forward(self, ids, keys):
        states = self.embeddings(ids)
        for layer in self.layers:
            states = layer(states, keys)
        return states


def both():
    sizes = {"vocab_size": SIZE.vocabulary, "hidden_size": SIZE.width, "num_attention_heads": SIZE.heads}
    sizes |= {"intermediate_size": SIZE.feed_forward, "max_position_embeddings": SIZE.positions}
    config = BertConfig(**sizes)
    config._attn_implementation = "sdpa"
    sides, drawn = [], []
    for parts in ((BertEmbeddings, BertLayer, SIZE), (modeling_bert.BertEmbeddings, modeling_bert.BertLayer, config)):
        torch.manual_seed(5)
        sides.append(Stack(*parts))
        drawn.append(torch.get_rng_state())
    assert torch.equal(*drawn)
    return sides


def test_the_same_seed_gives_the_same_weights_under_the_same_names_in_the_same_order():
    ours, theirs = both()
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    assert all(torch.equal(one, other) for one, other in zip(ours.parameters(), theirs.parameters()))
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_outputs_and_gradients_are_the_same_bytes_with_dropout_and_pads():
    ids = torch.randint(1, SIZE.vocabulary, (3, 9), generator=torch.Generator().manual_seed(1))
    ids[1, 4:] = 0
    outputs, gradients = [], []
    for side in both():
        for keys in (key_mask(ids != 0), None):
            torch.manual_seed(6)
            outputs.append(side.train()(ids, keys))
            outputs[-1].square().sum().backward()
            outputs.append(side.eval()(ids, keys))
        gradients.append([parameter.grad for parameter in side.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(outputs[:4], outputs[4:], strict=True))
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


CAPTIONS = [
    "a ball",
    "A person is cooking on a stove, stirring.",
    "two large red balls hop up and down beside a small striped box before a dark green wall",
    "naïve café 日本",
    "[SEP] is no end",
    "?",
    "word " * 400,
    *(f"a person number {number} opens the door" for number in range(150)),
]


@pytest.mark.slow  # the library takes long to import
def test_sentence_vectors_are_those_of_sentence_transformers():
    ours, theirs = encode(CAPTIONS), encode(CAPTIONS, str(folder()))
    assert ours.dtype == np.float32 and np.array_equal(ours, theirs)
    assert np.linalg.norm(ours, axis=1) == pytest.approx(1, abs=1e-6)
    assert encode([]).shape == (0, 384) and weights_digest() == weights_digest(str(folder()))


def test_a_sentence_is_seen_up_to_256_tokens_whatever_its_neighbours():
    near, other, far, same = encode([f"{'word ' * count}{end}" for count in (200, 300) for end in ("ball", "dog")])
    assert not np.allclose(near, other, atol=1e-3) and np.allclose(far, same, atol=1e-5)
    assert np.allclose(*(encode(texts)[0] for texts in (CAPTIONS[:1], CAPTIONS[:3])), atol=1e-5)


def test_token_ids_are_those_of_transformers():
    ours, theirs = load_tokeniser("all-MiniLM-L6-v2"), load_tokeniser(str(folder()))
    assert (ours.vocabulary, ours.cls_id) == (theirs.vocabulary, theirs.cls_id)
    assert ours(CAPTIONS) == theirs(CAPTIONS)


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
