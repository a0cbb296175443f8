"""Word–token alignment, a help for pre-training the tiny evaluator on few clips.

The hard negatives of Equations 9 and 10 differ from the caption in a word or two. In an untrained text encoder such a
difference all but vanishes in the caption's one vector, so for hundreds of steps those losses teach nothing about it.
Here captions are bags of words, scored by the text encoder's own word embeddings against the video's tokens, without
any layer between: the difference of two captions is the difference of their words, and the gradient is sharp.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

PRESENCE_WEIGHT = 0.1


class WordAlignment(nn.Module):
    """Match of words and a video, by its best and its mean token."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.bias = nn.Embedding(vocabulary, 1)
        nn.init.constant_(self.bias.weight, -2.0)  # a word is absent more often than not

    def forward(self, tokens: Tensor, embeddings: Tensor, words: Tensor, bags: Tensor) -> Tensor:
        """The loss of B videos, a scalar.

        tokens: [B, N, width]; embeddings: [vocabulary, width]; words: ids [U] of the batch's words; bags:
        [B, 1 + K, U], 0 or 1, the true caption first, then the perturbed ones. Two parts: the true caption scores above
        each perturbed one (logistic loss of the difference), and its words are recognised as present, others as absent.
        """
        likeness = tokens @ embeddings[words].T
        logits = likeness.amax(dim=1) + likeness.mean(dim=1) + self.bias(words)[:, 0]
        scores = torch.einsum("bu,bku->bk", logits, bags)
        ranking = softplus(scores[:, 1:] - scores[:, :1]).sum(dim=1).mean()
        presence = binary_cross_entropy_with_logits(logits, bags[:, 0], reduction="none").sum(dim=1).mean()
        return ranking + PRESENCE_WEIGHT * presence
