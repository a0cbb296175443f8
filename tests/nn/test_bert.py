"""Our BERT layers against those of transformers: initial weights, outputs and gradients, byte for byte."""

import numpy as np
import pytest
import torch
from transformers import BertConfig
from transformers.models.bert import modeling_bert

from verified.benchmark.vcmr.data import load_tokeniser
from verified.nn.bert import BertEmbeddings, BertLayer, BertSize, key_mask
from verified.nn.mini_lm import folder
from verified.nn.sentences import encode, weights_digest

SIZE = BertSize(width=96, layers=2, heads=6, feed_forward=160, vocabulary=50, positions=20)


class Stack(torch.nn.Module):
    """Embeddings and layers of either side, made in the same order."""

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
    config = BertConfig(
        vocab_size=SIZE.vocabulary,
        hidden_size=SIZE.width,
        num_attention_heads=SIZE.heads,
        intermediate_size=SIZE.feed_forward,
        max_position_embeddings=SIZE.positions,
    )
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
