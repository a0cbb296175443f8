"""The separate world, the tiny stem and the word–token alignment."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from verified.demo.tiny_evaluator.alignment import WordAlignment
from verified.demo.tiny_evaluator.motion_stem import TOKENS
from verified.demo.tiny_evaluator.pretrain import bags_of_words, initialise, world_batch
from verified.demo.tiny_evaluator.small_resnet import SmallResNet
from verified.demo.tiny_evaluator.stem import TinyStem
from verified.demo.tiny_evaluator.world import world_item
from verified.evaluator.architecture import architecture
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.tokens import encode, wordpiece

SIZE = architecture("tiny", 8, 64)


@pytest.fixture(scope="module")
def items():
    return [world_item(3, number, 8, 64, 3) for number in range(20)]


def test_an_item_depends_on_seed_and_number_alone(items):
    again = world_item(3, 7, 8, 64, 3)
    assert again.caption == items[7].caption and np.array_equal(again.frames, items[7].frames)
    assert world_item(4, 7, 8, 64, 3).caption != items[7].caption


def test_perturbed_captions_differ_from_the_true_one(items):
    for item in items:
        assert item.frames.shape == (8, 64, 64, 3)
        assert len(item.static) == len(item.dynamic) == 3
        assert item.caption not in item.static + item.dynamic


def test_bags_hold_each_caption_s_words():
    words, bags = bags_of_words([["a red ball", "a blue ball"], ["two balls", "a red ball rests"]])
    assert bags.shape == (2, 2, len(words))
    names = [wordpiece().id_to_token(int(word)) for word in words]
    assert {names[n] for n in bags[0, 1].nonzero()[:, 0]} == {"a", "blue", "ball"}


@pytest.mark.parametrize("picture", ["black", "noise", "one frame"])
def test_stem_gives_finite_tokens(picture):
    stem = TinyStem(SIZE)
    pixels = torch.zeros(2, 1 if picture == "one frame" else 8, 3, 64, 64)
    if picture == "noise":
        pixels = torch.randn_like(pixels)
    tokens = stem(pixels)
    assert tokens.shape == (2, pixels.shape[1] * SIZE.tokens_per_frame, SIZE.vision_width)
    tokens.sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in stem.parameters() if parameter.grad is not None)


def test_the_image_network_stays_as_it_was_trained():
    stem = TinyStem(SIZE).train()
    before = {name: value.clone() for name, value in stem.network.state_dict().items()}
    stem(torch.randn(2, 8, 3, 64, 64)).square().mean().backward()
    assert stem.motion.training and not stem.network.training
    assert all(parameter.grad is None for parameter in stem.network.parameters())
    assert all(torch.equal(before[name], value) for name, value in stem.network.state_dict().items())


def test_frames_seen_before_are_not_computed_again(monkeypatch):
    stem = TinyStem(SIZE).train()
    batches = [torch.rand(2, SIZE.frames, 3, 112, 112) for _ in range(2)]
    batches += [batches[1].flip(0), torch.stack([batches[0][1], batches[1][0]])]
    plain = [stem(batch) for batch in batches]
    seen = []
    network = stem.network.forward
    monkeypatch.setattr(stem.network, "forward", lambda frames: seen.append(len(frames)) or network(frames))
    stem.remember_frames()
    for batch, tokens in zip(batches, plain, strict=True):
        assert torch.equal(stem(batch), tokens)
    assert len(seen) == 2


def test_frames_that_another_evaluator_has_seen_are_not_computed_again(monkeypatch):
    """Two fine-tunings have one image network; one with another network computes its own."""
    torch.manual_seed(3)
    one, fine_tuned, other = (TinyStem(SIZE).eval() for _ in range(3))
    fine_tuned.network.load_state_dict(one.network.state_dict())
    clips = [torch.rand(1, SIZE.frames, 3, 112, 112) for _ in range(2)]
    plain = {stem: [stem(clip) for clip in clips] for stem in (one, fine_tuned, other)}
    seen = []
    network = SmallResNet.forward
    monkeypatch.setattr(SmallResNet, "forward", lambda self, frames: seen.append(len(frames)) or network(self, frames))
    for stem, before, computed in ((one, None, 2), (fine_tuned, one, 0), (other, fine_tuned, 2)):
        stem.remember_frames(before)
        seen.clear()
        assert all(torch.equal(stem(clip), tokens) for clip, tokens in zip(clips, plain[stem], strict=True))
        assert len(seen) == computed


def test_the_frames_that_are_looked_at_are_every_second_one():
    stem = TinyStem(SIZE).eval()
    pixels = torch.randn(1, 8, 3, 64, 64)
    looks = stem(pixels).unflatten(1, (8, -1))[:, :, TOKENS:]
    pixels[:, 4] += 1.0
    assert torch.equal(stem(pixels).unflatten(1, (8, -1))[:, :, TOKENS:], looks)
    pixels[:, 5] += 1.0
    changed = (stem(pixels).unflatten(1, (8, -1))[:, :, TOKENS:] != looks).flatten(2).any(2)[0]
    assert changed.tolist() == [False] * 4 + [True] * 2 + [False] * 2


def test_alignment_learns_which_words_fit():
    torch.manual_seed(0)
    tokens, embeddings = torch.randn(4, 5, 8), torch.nn.Parameter(torch.randn(10, 8) * 0.05)
    words = torch.arange(6)
    bags = torch.zeros(4, 2, 6)
    for video in range(4):
        bags[video, 0, video] = bags[video, 1, 4] = 1
    alignment = WordAlignment(10)
    optimiser = torch.optim.Adam([embeddings, *alignment.parameters()], lr=0.05)
    losses = []
    for _ in range(60):
        loss = alignment(tokens, embeddings, words, bags)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_a_fresh_caption_is_the_mean_of_its_words():
    torch.manual_seed(0)
    model = NoiseEvaluator(SIZE).eval()
    initialise(model)
    ids, mask, _ = encode(["a red ball moves to the left", "two large blue boxes shrink slowly"])
    with torch.inference_mode():
        words = model.text.embeddings(ids)
        means = (words * mask[..., None]).sum(dim=1) / mask.sum(dim=1)[:, None]
        _, vectors = model.encode_text(ids, mask)
        likeness = normalize(means + words[:, 0], dim=-1) @ vectors.T
    assert (likeness.diagonal() > 0.95).all() and likeness.diagonal().min() > likeness[0, 1]


def test_a_world_batch_has_true_and_perturbed_captions():
    batch = world_batch(3, 0, 4, SIZE)
    assert batch.roles == ("caption", "static", "dynamic")
    assert batch.bags.shape[:2] == (4, 7) and batch.frames.dtype == torch.uint8


def test_tiny_is_small():
    model = NoiseEvaluator(SIZE)
    words = model.text.embeddings.word_embeddings.weight.numel()
    assert sum(parameter.numel() for parameter in model.parameters()) - words < 2_000_000
