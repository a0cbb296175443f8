"""Items to batches: captions to ids, equal captions found, an order that depends on the seed and the epoch alone."""

import numpy as np
import torch

from verified.common.seeds import generator
from verified.evaluator.step import ROLES, Batch
from verified.evaluator.tokens import clean, encode


def epoch_order(items: int, seed: int, epoch: int) -> np.ndarray:
    """A permutation of the items, other in each epoch."""
    return generator(seed, "evaluator order", epoch).permutation(items)


def make_batch(frames: np.ndarray, captions: dict[str, list[str]], names: list[str]) -> Batch:
    """A batch of items.

    frames: uint8 [b, T, H, W, 3], this process's share; captions: B strings a role; names: B.
    """
    roles = tuple(role for role in ROLES if role in captions)
    ids, mask, _ = encode([caption for role in roles for caption in captions[role]])
    shape = (len(roles), len(names), -1)
    cleaned = np.array([clean(caption) for caption in captions["caption"]])
    same = torch.from_numpy(cleaned[:, None] == cleaned[None, :])
    return Batch(torch.from_numpy(frames), ids.reshape(shape), mask.reshape(shape), roles, same, names)
