"""Windows that models propose whole."""

import pytest
import torch

from verified.benchmark.vcmr.conformance.trial import CLIPS, Trial, close
from verified_rextime.models.cg_detr import CGDETR
from verified_rextime.models.univtg import UniVTG
from verified_rextime.windows import best_windows, generalised_iou, spans_of_windows


@pytest.mark.parametrize("kind", [UniVTG, CGDETR])
def test_windows_of_a_model_lie_in_their_video_and_agree_with_its_starts_and_ends(kind):
    trial = Trial(kind)
    model, mask = trial.model(), trial.corpus.all_videos[1]
    spans = trial.spans(model, *trial.encode(model), trial.own_pairs)
    start, end, score = spans.proposals.unbind(dim=2)
    assert ((start >= 0) & (start <= end) & (end <= mask.sum(dim=1, keepdim=True))).all()
    assert ((score >= 0) & (score <= 1)).all() and (score > 0).any(dim=1).all()
    expected = spans_of_windows(spans.proposals, mask)
    assert close(spans.start, expected.start) and close(spans.end, expected.end)
    weight = torch.ones(len(start), 1)
    flat = torch.full((len(start), 1, CLIPS), 1 / CLIPS)
    found = model.best_spans(flat, flat, spans.proposals.unsqueeze(1), weight, (0, CLIPS), 1)
    assert torch.equal(found[3][:, 0], score.max(dim=1).values), "search takes the windows"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.2, 0.6), (0.2, 0.6), 1.0),
        ((0.0, 2.0), (1.0, 3.0), 1 / 3),  # they touch: the hull is the union
        ((0.0, 1.0), (2.0, 3.0), -1 / 3),  # a third of the hull is between them
        ((0.0, 1.0), (4.0, 4.0), -3 / 4),
    ],
)
def test_generalised_iou_says_how_far_apart_spans_are_too(first, second, expected):
    assert generalised_iou(torch.tensor(first), torch.tensor(second)).item() == pytest.approx(expected)


def test_the_best_windows_come_from_all_videos_and_keep_the_order_of_equals():
    windows = torch.tensor(
        [[[[0.5, 2.0, 0.4], [1.0, 3.0, 0.9]], [[0.0, 1.5, 0.6], [2.0, 4.0, 0.0]], [[0.0, 1.0, 0.2], [3.0, 4.0, 0.2]]]]
    )
    slot, start, end, score = best_windows(windows, torch.tensor([[1.0, 2.0, 2.0]]), rows=5)
    assert slot[0].tolist() == [1, 0, 0, 2, 2]
    assert start[0].tolist() == [0.0, 1.0, 0.5, 0.0, 3.0] and end[0].tolist() == [1.5, 3.0, 2.0, 1.0, 4.0]
    assert score[0].tolist() == pytest.approx([1.2, 0.9, 0.4, 0.4, 0.4])


def test_clips_are_as_likely_as_the_windows_that_begin_and_end_with_them():
    windows = torch.tensor([[[1.0, 3.0, 0.5], [2.0, 3.0, 0.25]]])
    spans = spans_of_windows(windows, torch.tensor([[True, True, True, False]]))
    assert spans.proposals is windows
    near = [0.5 * 2.718281828**-1 + 0.25 * 2.718281828**-2, 0.5 + 0.25 * 2.718281828**-1]
    assert spans.start.exp()[0, :2].tolist() == pytest.approx(near)
    assert spans.end[0].argmax() == 2 and spans.end[0, 2].exp().item() == pytest.approx(0.75)
    assert (spans.start.softmax(1)[0, 3], spans.end.softmax(1)[0, 3]) == (0, 0)
