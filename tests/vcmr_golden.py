"""Golden numbers of the official implementations (tests/fixtures/vcmr/README.md says how they were made)."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, RetrievalModel

FOLDER = Path(__file__).resolve().parent / "fixtures" / "vcmr"


class Golden:
    """Arrays of one ``*_model.npz``: floats in float64, so that comparisons show formulas and not rounding."""

    def __init__(self, name: str):
        with np.load(FOLDER / f"{name}_model.npz", allow_pickle=False) as file:
            self.arrays = {key: torch.from_numpy(file[key]) for key in file}
        self.weights = {key[2:]: value for key, value in self.arrays.items() if key.startswith("w.")}

    def __getitem__(self, key: str) -> Tensor:
        value = self.arrays[key]
        return value.double() if value.is_floating_point() else value

    def fill(self, model: RetrievalModel) -> RetrievalModel:
        """The model with the golden weights, imported as an official checkpoint is, without dropout, in float64."""
        model.load_state_dict(model.from_official(self.weights))
        return model.eval().double()

    def batch(self, query: str = "query_feat", span: str = "st_ed_indices") -> Batch:
        masks = self["query_mask"].bool(), self["video_mask"].bool()
        return Batch(self[query], masks[0], self["video_feat"], masks[1], self[span])

    def equal(self, actual: Tensor, key: str, mask: Tensor | None = None, tolerance: float = 1e-5) -> None:
        """Assert equality with the array `key`, where `mask` (of the leading axes) is true."""
        difference = (actual.detach() - self[key].reshape(actual.shape)).abs()
        if mask is not None:
            difference = difference[mask.reshape(actual.shape[: mask.dim()])]
        assert difference.max() < tolerance, f"{key} differs by {difference.max():.2e}"

    def equal_losses(self, losses: dict[str, Tensor], keys: dict[str, str], tolerance: float = 1e-5) -> None:
        """Assert that each loss equals the golden one that `keys` names, and that there is no further loss."""
        assert set(losses) == set(keys)
        for name, key in keys.items():
            assert abs(losses[name].item() - self.arrays[key].item()) < tolerance, name


def pairs_of_slots(batch: Batch) -> tuple[Tensor, Tensor]:
    """Query and video index of every (query, slot) of a two-stage batch, videos being counted through all slots."""
    items, slots = batch.video.shape[:2]
    return torch.arange(items).repeat_interleave(slots), torch.arange(items * slots)


def cross_pairs(queries: int, videos: int) -> tuple[Tensor, Tensor]:
    """Every (query, video), sorted by video as search gives them."""
    return torch.arange(queries).repeat(videos), torch.arange(videos).repeat_interleave(queries)
