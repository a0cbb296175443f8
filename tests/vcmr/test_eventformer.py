"""EventFormer's own parts: where events begin, how far its attention sees, and what of a batch is no negative."""

import numpy as np
import pytest
import torch

from verified.benchmark.vcmr.models.eventformer import (
    AnchorAttention,
    EventFormer,
    EventFormerConfig,
    event_of_clips,
    same_video,
)


def scenes(*lengths: int, noise: float = 0.05) -> torch.Tensor:
    """A video whose scenes of so many clips look each like itself; [1, clips, 16]."""
    draw = np.random.default_rng(0)
    clips = [draw.normal(size=16) + noise * draw.normal(size=(length, 16)) for length in lengths]
    return torch.from_numpy(np.concatenate(clips)).float()[None]


def events(video: torch.Tensor, kernel: int = 2) -> list[int]:
    return event_of_clips(video, torch.ones(video.shape[:2], dtype=torch.bool), kernel)[0].tolist()


@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_an_event_begins_where_the_scene_changes(kernel):
    assert events(scenes(3, 4, 5), kernel) == [0] * 3 + [1] * 4 + [2] * 5


def test_what_never_changes_is_one_event():
    assert events(scenes(6, noise=0.0)) == [0] * 6
    assert events(scenes(1)) == [0]


def test_pads_and_other_videos_move_no_event():
    short, long = scenes(2, 3), scenes(4, 4)
    both = torch.full((2, 10, 16), float("nan"))
    both[0, :5], both[1, :8] = short[0], long[0]
    mask = torch.arange(10) < torch.tensor([[5], [8]])
    found = event_of_clips(both, mask, 2)
    assert found[0, :5].tolist() == events(short)
    assert found[1, :8].tolist() == events(long)


@pytest.mark.parametrize("kernel", [1, 2, 4])
def test_events_begin_at_peaks_of_the_kernel_on_the_matrix_of_cosines(kernel):
    """As the head of the model's file says it: within minus across, and a peak above the video's mean."""
    video = torch.randn(1, 20, 8, generator=torch.Generator().manual_seed(kernel))
    unit = torch.nn.functional.normalize(video[0].double(), dim=1)
    cosines, contrast = unit @ unit.T, [0.0]
    for at in range(1, 20):
        before, after = slice(max(0, at - kernel), at), slice(at, at + kernel)
        within = (cosines[before, before].mean() + cosines[after, after].mean()) / 2
        contrast.append(float(within - cosines[before, after].mean()))
    mean, around = sum(contrast) / 19, [*contrast, 0.0]
    begins = [n for n in range(1, 20) if contrast[n] > max(mean, contrast[n - 1]) and contrast[n] >= around[n + 1]]
    assert len(begins) > 2
    assert events(video, kernel) == [sum(n <= at for n in begins) for at in range(20)]


def test_heads_see_their_neighbours_and_the_last_one_all():
    torch.manual_seed(0)
    attention = AnchorAttention(hidden=12, heads=3, dropout=0.0, anchor=1).eval()
    x, mask = torch.randn(1, 9, 12), torch.ones(1, 9, dtype=torch.bool)
    other = x.clone()
    other[0, 8] += 1.0
    changed = (attention(x, mask) - attention(other, mask)).abs().view(9, 3, 4).amax(dim=2) > 1e-6
    assert changed[:, 0].nonzero().flatten().tolist() == [7, 8]
    assert changed[:, 1].nonzero().flatten().tolist() == [6, 7, 8]
    assert changed[:, 2].all()


def test_items_of_one_video_are_no_negatives_of_one_another():
    video = torch.randn(3, 5, 4)
    video[2] = video[0]
    assert same_video(video).tolist() == [[True, False, True], [False, True, False], [True, False, True]]
    model = EventFormer(EventFormerConfig(video_dim=4, text_dim=4, context_clips=5, **EventFormer.small))
    queries = torch.nn.functional.normalize(torch.randn(2, 3), dim=1)
    units, mask = torch.nn.functional.normalize(torch.randn(1, 5, 3), dim=2).expand(2, 5, 3), torch.ones(2, 5).bool()
    alone = model.contrast(queries, units, mask, mask, ~torch.eye(2, dtype=torch.bool))
    assert alone.item() == pytest.approx(0.0, abs=1e-6)
    assert model.contrast(queries, units, mask, mask, torch.zeros(2, 2).bool()).item() > 0.1
