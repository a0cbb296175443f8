"""The tiny stem and the word–token alignment."""

import torch

from verified.demo.tiny_evaluator.pretrain import WordAlignment
from verified.demo.tiny_evaluator.stem import TinyStem
from verified.evaluator.settings import architecture

SIZE = architecture("tiny", 8, 64)


def test_the_image_network_stays_as_it_was_trained():
    stem = TinyStem(SIZE).train()
    before = {name: value.clone() for name, value in stem.network.state_dict().items()}
    stem(torch.randn(2, 8, 3, 64, 64)).square().mean().backward()
    assert stem.motion.training and not stem.network.training
    assert all(parameter.grad is None for parameter in stem.network.parameters())
    assert all(torch.equal(before[name], value) for name, value in stem.network.state_dict().items())


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
