"""Training of an embedding of which few rows are read: of a vocabulary, the words of the captions at hand.

The gradient of every other row is 0 at each step, and so are its moments: all that a step does to it is decay. So the
rows in use become a parameter of their own, and the others wait beside it. When the whole table is read (`state_dict`),
they get the decay of all steps since, in their order and by the optimiser's own arithmetic.

On the CPU this ends with the same bytes as a training of all rows: rows of the gradient that are 0 add nothing to its
norm. That norm is a sum lane by lane of the processor's vectors, so rows must fill whole vectors (`LANES`), or those in
use would be added up in another order.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.nn.optimisers import AdamW, BertAdam, DecayFirst

Decaying = AdamW | BertAdam | DecayFirst

LANES = 16
"""Float32 numbers in the widest vector of a processor (512 bits)."""
BLOCK = 2**18
"""Numbers that get the decay of all steps before the next ones do: a megabyte, which stays in the processor's cache."""


class UsedRows(nn.Module):
    """Some rows of an embedding [V, D] as a parameter `weight` [U, D]; ids and state dict are the embedding's."""

    def __init__(self, table: nn.Embedding, used: Iterable[int]):
        super().__init__()
        whole = table.weight.detach()
        padding = [] if table.padding_idx is None else [table.padding_idx]
        read = torch.zeros(len(whole), dtype=torch.bool)
        read[[*used, *padding]] = True
        self.rows, self.others = read.nonzero().flatten(), (~read).nonzero().flatten()
        self.place = torch.full((len(whole),), -1).index_copy_(0, self.rows, torch.arange(len(self.rows)))
        """[V] row of `weight` that holds a row of the table; -1: none does."""
        self.padding = int(self.place[padding[0]]) if padding else None
        self.weight = nn.Parameter(whole[self.rows], requires_grad=table.weight.requires_grad)
        self.waiting = whole[self.others]
        self.pending: list[tuple[float, float]] = []
        """Learning rate and weight decay of each step that `waiting` has yet to get."""
        self.optimiser: Decaying | None = None

    def forward(self, ids: Tensor) -> Tensor:
        """Rows of the table; ids [...] → [..., D]. Raises IndexError for a row that is not in use."""
        return F.embedding(self.place[ids], self.weight, self.padding)

    def follow(self, optimiser: Decaying) -> None:
        """Note the decay of every step of the optimiser that trains `weight`."""
        self.optimiser = optimiser
        optimiser.register_step_post_hook(self._note)

    def _note(self, optimiser: torch.optim.Optimizer, arguments: object, named: object) -> None:
        if self.weight.grad is None:
            return
        group = next(g for g in optimiser.param_groups if any(one is self.weight for one in g["params"]))
        self.pending.append((group["lr"], group["weight_decay"]))

    @torch.no_grad()
    def whole(self) -> Tensor:
        """The table [V, D] as it stands after all steps."""
        if self.optimiser is not None:
            for block in self.waiting.view(-1).split(BLOCK):
                for rate, weight_decay in self.pending:
                    self.optimiser.decay([block], rate, weight_decay)
            self.pending.clear()
        whole = self.weight.new_empty(len(self.place), self.weight.shape[1])
        whole[self.rows], whole[self.others] = self.weight.detach(), self.waiting
        return whole

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        destination[f"{prefix}weight"] = self.whole()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *more: Any) -> None:
        whole = state_dict[f"{prefix}weight"]
        super()._load_from_state_dict({**state_dict, f"{prefix}weight": whole[self.rows]}, prefix, *more)
        self.waiting = whole[self.others]
        self.pending.clear()


def can_divide(module: nn.Module, name: str) -> bool:
    """Whether the embedding `name` of a module can be trained by some rows with the same result.

    It must be float32 on the CPU with rows of whole vectors, belong to no other layer, and have no options of
    `nn.Embedding` but `padding_idx`.
    """
    table = module.get_submodule(name)
    if not isinstance(table, nn.Embedding) or table.max_norm or table.scale_grad_by_freq or table.sparse:
        return False
    weight = table.weight
    owners = sum(one is weight for _, one in module.named_parameters(remove_duplicate=False))
    whole_vectors = weight.dtype == torch.float32 and weight.shape[1] % LANES == 0
    return owners == 1 and whole_vectors and weight.device.type == "cpu"


@contextmanager
def only_used_rows(module: nn.Module, name: str, used: Iterable[int]) -> Iterator[UsedRows]:
    """Within, the embedding `name` of a module trains the rows `used` alone; afterwards it is whole again.

    Make the optimiser within, and have the rows `follow` it. Raises ValueError if it cannot be divided so.
    """
    table = module.get_submodule(name)
    if not isinstance(table, nn.Embedding) or not can_divide(module, name):
        raise ValueError(f"{name} cannot be trained by some of its rows")
    rows = UsedRows(table, used)
    module.set_submodule(name, rows)
    try:
        yield rows
    finally:
        table.weight.data = rows.whole()
        module.set_submodule(name, table)
