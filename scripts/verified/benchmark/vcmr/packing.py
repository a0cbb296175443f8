"""Sequences of unequal length as rows one below the other, so that a training step computes next to nothing on pads.

Linear maps, norms and dropout work on the rows; attention works on groups of sequences of similar length, whose rows
are together. Real positions hold what they hold in padded sequences, but for rounding (a product of fewer rows may sum
in another order) and for dropout, which draws for fewer positions.
"""

from collections.abc import Callable

import torch
from torch import Tensor

GROUPS = 8
"""More groups have fewer pads and more calls."""


class Packing:
    """Order in which positions of N sequences of S become rows; made from their mask [N, S] on the CPU.

    Sequences are sorted by length and cut into groups; one keeps as many positions as the longest of its group and
    `reach` more, for a convolution behind the encoder that looks as far across the end.
    """

    def __init__(self, mask: Tensor, reach: int = 0):
        self.shape = count, size = mask.shape
        lengths = (mask * torch.arange(1, size + 1)).amax(dim=1)
        order = lengths.argsort(stable=True)
        self.groups, index, positions = [], [], []
        self.members = order.tensor_split(min(GROUPS, count))
        for members in self.members:
            kept = torch.arange(min(int(lengths[members[-1]]) + reach, size))
            self.groups.append(mask[members, : len(kept)])
            index.append((members[:, None] * size + kept).flatten())
            positions.append(kept.expand(len(members), -1).flatten())
        self.index, self.positions = torch.cat(index), torch.cat(positions)
        self.pads = torch.cat([~group.flatten() for group in self.groups]).nonzero().squeeze(1)

    def rows(self, x: Tensor) -> Tensor:
        """[N, S, D] → [R, D], zero at pads."""
        return x.flatten(0, 1).index_select(0, self.index).index_fill_(0, self.pads, 0.0)

    def rows_with_pads(self, x: Tensor) -> Tensor:
        """The same with the pads that are kept as they are."""
        return x.flatten(0, 1).index_select(0, self.index)

    def to_padded(self, rows: Tensor) -> Tensor:
        """[R, D] → [N, S, D], zero where nothing was computed."""
        count, size = self.shape
        empty = rows.new_zeros(count * size, rows.shape[1])
        return empty.index_copy(0, self.index, rows).view(count, size, -1)

    def each_group(self, function: Callable[..., Tensor], *parts: Tensor) -> Tensor:
        """`function` of each group's [n, s, D] of `parts` [R, D] and its mask [n, s], as rows again; → [R, D]."""
        split = zip(*(part.split([group.numel() for group in self.groups]) for part in parts))
        return torch.cat(
            [
                function(*(part.view(*group.shape, -1) for part in of_group), group).flatten(0, 1)
                for of_group, group in zip(split, self.groups)
            ]
        )
