"""Spans that are decoded from logits."""

import itertools
import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.benchmark.vcmr.contract import ModelConfig, RetrievalModel
from verified.benchmark.vcmr.decode import best_spans, spans_of_windows

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"


def every_span(start, end, weight, shortest, beyond):
    """All spans of one query with a positive score, best first; ties by slot, start, end."""
    videos, clips = start.shape
    spans = [
        (slot, i, j, float((weight[slot] * start[slot, i]) * end[slot, j]))
        for slot, i, j in itertools.product(range(videos), range(clips), range(clips))
        if shortest <= j - i < beyond
    ]
    return sorted((span for span in spans if span[3] > 0), key=lambda span: (-span[3], span[:3]))


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    videos=st.integers(1, 4),
    clips=st.integers(1, 9),
    shortest=st.integers(0, 4),
    extra=st.integers(1, 12),
    rows=st.sampled_from([1, 3, 50]),
)
def test_the_best_spans_are_those_of_a_full_search(seed, videos, clips, shortest, extra, rows):
    draw = torch.Generator().manual_seed(seed)
    start, end = (torch.rand(2, videos, clips, generator=draw).softmax(2) for _ in range(2))
    start[:, :, -1] *= (torch.rand(2, videos, generator=draw) > 0.5).float()
    weight = torch.rand(2, videos, generator=draw) * 20
    decoded = best_spans(start, end, weight, shortest, shortest + extra, rows)
    for query in range(2):
        expected = every_span(start[query], end[query], weight[query], shortest, shortest + extra)[:rows]
        actual = [tuple(column[query, row].item() for column in decoded) for row in range(decoded[0].shape[1])]
        actual = [span for span in actual if span[3] > 0]
        assert [span[3] for span in actual] == [pytest.approx(span[3], rel=1e-6) for span in expected]
        scores = [span[3] for span in expected]
        if len(set(scores)) == len(scores):
            assert [span[:3] for span in actual] == [span[:3] for span in expected]


@pytest.mark.parametrize("case", json.loads((FIXTURES / "labels_masks_sampling.json").read_text())["length_masks"])
def test_allowed_spans_are_the_official_ones(case):
    flat = torch.full((1, 1, case["L"]), 1 / case["L"])
    _, first, last, score = best_spans(
        flat, flat, torch.ones(1, 1), case["min_pred_l"], case["max_pred_l"], case["L"] ** 2
    )
    allowed = sorted((int(i), int(j)) for i, j, value in zip(first[0], last[0], score[0]) if value > 0)
    assert allowed == sorted(map(tuple, case["valid"]))


def test_windows_that_a_model_proposes_come_from_all_videos_and_keep_the_order_of_equals():
    windows = torch.tensor(
        [[[[0.5, 2.0, 0.4], [1.0, 3.0, 0.9]], [[0.0, 1.5, 0.6], [2.0, 4.0, 0.0]], [[0.0, 1.0, 0.2], [3.0, 4.0, 0.2]]]]
    )
    model, flat = RetrievalModel(ModelConfig(video_dim=5, text_dim=3, context_clips=4)), torch.full((1, 3, 4), 0.25)
    slot, start, end, score = model.best_spans(flat, flat, windows, torch.tensor([[1.0, 2.0, 2.0]]), (2, 3), 5)
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
