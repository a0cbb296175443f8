"""The tiny stem and the word–token alignment."""

import torch
from torch.nn.functional import normalize

from verified.demo.tiny_evaluator.pretrain import WordAlignment, initialise
from verified.demo.tiny_evaluator.stem import TinyStem
from verified.evaluator.model import NoiseEvaluator, encode
from verified.evaluator.settings import architecture

SIZE = architecture("tiny", 8, 64)


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


def test_tiny_is_small():
    model = NoiseEvaluator(SIZE)
    words = model.text.embeddings.word_embeddings.weight.numel()
    assert sum(parameter.numel() for parameter in model.parameters()) - words < 2_000_000
