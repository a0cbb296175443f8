"""Decoding: the best spans and windows, and localisation without the pairs that change no byte of a list."""

import itertools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import plant, small_model

from verified.benchmark.lists import NO_VIDEO
from verified.benchmark.vcmr import decode
from verified.benchmark.vcmr.conformance import failures
from verified.benchmark.vcmr.contract import Spans
from verified.benchmark.vcmr.decode import best_spans, best_windows, generalised_iou, localise_needed, spans_of_windows
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.registry import model_class
from verified.benchmark.vcmr.search import SearchSettings, search

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


def test_no_span_fits_into_a_video_shorter_than_the_shortest_span():
    flat = torch.full((2, 3, 4), 0.25)
    assert best_spans(flat, flat, torch.ones(2, 3), 4, 8, 10)[0].shape == (2, 0)


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
    assert spans.windows is windows
    near = [0.5 * 2.718281828**-1 + 0.25 * 2.718281828**-2, 0.5 + 0.25 * 2.718281828**-1]
    assert spans.start.exp()[0, :2].tolist() == pytest.approx(near)
    assert spans.end[0].argmax() == 2 and spans.end[0, 2].exp().item() == pytest.approx(0.75)
    assert (spans.start.softmax(1)[0, 3], spans.end.softmax(1)[0, 3]) == (0, 0)


def changed(**parts):
    """UniVTG with other windows beside the same starts and ends, or with other properties."""
    base = model_class("univtg")
    return type("Changed", (base,), parts)


def moved(change):
    def span_logits(self, *arguments):
        spans = model_class("univtg").span_logits(self, *arguments)
        return spans._replace(windows=None if change is None else change(spans.windows))

    return {"span_logits": span_logits}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (moved(None), "windows given is False"),
        ({"proposes": False}, "windows given is True"),
        (moved(lambda windows: windows[..., [1, 0, 2]]), "begins after its end"),
        (moved(lambda windows: windows + torch.tensor([0.0, 1.0, 0.0])), "outside its video"),
        (moved(lambda windows: windows * torch.tensor([1.0, 1.0, 3.0])), "from 0 to 1"),
        (moved(lambda windows: windows * torch.tensor([1.0, 1.0, 0.0])), "no window of a positive score"),
        (moved(lambda windows: windows * torch.tensor([0.5, 1.0, 1.0])), "start is not what"),
        (moved(lambda windows: windows[..., :2]), "not [P, W, 3]"),
    ],
)
def test_windows_that_break_the_contract_are_found_out(parts, reason):
    assert reason in dict(failures(changed(**parts), only=("windows",)))["windows"]


SEARCHING = SearchSettings(min_pred_clips=1, max_pred_clips=6, rows=20, quiet=True)
VIDEOS, PLANTED = 40, 24


@dataclass
class Table:
    """Logits of one query by video, [V, L] each, in the place of a model; it counts what is asked of it."""

    start: torch.Tensor
    end: torch.Tensor
    scores_first: bool = False

    def __post_init__(self):
        self.config = SimpleNamespace(context_clips=self.start.shape[1])
        self.asked: list[int] = []

    def span_logits(self, queries, videos, query_index, video_index):
        self.asked += video_index.tolist()
        return Spans(self.start[video_index], self.end[video_index])

    def video_weights(self, scores):
        return scores


def table(draw: torch.Generator, sharpness: float, equal: bool) -> Table:
    logits = torch.randn(2, VIDEOS, 12, generator=draw) * sharpness
    return Table(*(logits.round() if equal else logits))


def of_video(lists, query):
    """The rows of a list that are predictions, as bytes."""
    real = lists.video[query] != NO_VIDEO
    return [column[query][real].tobytes() for column in vars(lists).values()]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("equal", [False, True], ids=["distinct", "ties"])
def test_rows_are_those_of_all_pairs(seed, equal):
    draw = torch.Generator().manual_seed(seed)
    model = table(draw, 4.0, equal)
    scores = torch.randn(VIDEOS, generator=draw) * 4
    if equal:
        scores = scores.round()
    weights = scores if seed % 4 == 3 else scores.exp()  # cosines may be negative
    clips = torch.randint(6, 13, (VIDEOS,), generator=draw)
    corpus = {"mask": torch.arange(12) < clips[:, None]}
    order = torch.randperm(VIDEOS, generator=draw)[: VIDEOS - 5]
    truth = int(torch.randint(VIDEOS, (), generator=draw))
    found = localise_needed(model, {}, corpus, order, weights[order], truth, (1, 6, 20))
    start, end = (logits[order].softmax(dim=1) for logits in (model.start, model.end))
    of_all = best_spans(start[None], end[None], weights[order][None], 1, 6, 20)
    of_needed = best_spans(found.start[None, :-1], found.end[None, :-1], found.weights[None], 1, 6, 20)
    real = of_all[3] > 0
    assert real.any()
    assert torch.equal(real, of_needed[3] > 0)
    assert all(torch.equal(one[real], other[real]) for one, other in zip(of_all, of_needed, strict=True))
    assert torch.equal(found.start[-1], model.start[truth].softmax(dim=0))
    assert len(set(model.asked)) == len(model.asked)
    assert found.left_out == len(order) - len(set(model.asked) & set(order.tolist())) > 0


def test_videos_that_might_tie_with_the_last_row_are_looked_into():
    sure = torch.full((VIDEOS, 12), -1e9)
    sure[:, 0] = 0  # one span of probability 1 in each video
    model = Table(sure, sure.roll(1, dims=1))
    corpus = {"mask": torch.ones(VIDEOS, 12, dtype=torch.bool)}
    weights = torch.ones(VIDEOS)
    found = localise_needed(model, {}, corpus, torch.arange(VIDEOS), weights, 0, (1, 6, 20))
    assert found.left_out == 0
    weights[30:] = 0.5
    found = localise_needed(model, {}, corpus, torch.arange(VIDEOS), weights, 0, (1, 6, 20))
    assert found.left_out == VIDEOS - 32


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"), PLANTED, events=1, seed=6)


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_lists_of_a_model_are_the_same_bytes_whether_pairs_are_left_out(name, files, monkeypatch):
    torch.manual_seed(3)
    model = small_model(name).eval()
    sharpen(model)
    monkeypatch.setattr(type(model), "costly_pairs", lambda model: True)
    split = files.split(type(model))
    draw = np.random.default_rng(1)
    order = np.stack([draw.permutation(PLANTED)[:22] for _ in split.moments.desc_id])
    cosine = -np.sort(-draw.random(order.shape, dtype=np.float32), axis=1)
    ranked = Ranked(split.moments.desc_id, order, cosine, split.moments.videos)
    monkeypatch.setattr(decode, "BLOCK", 8)
    counts = count_left_out(monkeypatch)
    some = search(model, split.videos, split.queries, split.moments, SEARCHING, ranked).tasks()
    assert sum(counts) > 0
    monkeypatch.setattr(decode, "_may_enter", lambda weight, least: True)
    counts.clear()
    every = search(model, split.videos, split.queries, split.moments, SEARCHING, ranked).tasks()
    assert sum(counts) == 0
    for task, lists in some.items():
        for query in range(len(split.moments)):
            assert of_video(lists, query) == of_video(every[task], query)


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_lists_are_those_of_all_pairs_at_once_but_for_rounding(name, files, monkeypatch):
    torch.manual_seed(3)
    model = small_model(name).eval()
    split = files.split(type(model))
    order = np.stack([np.random.default_rng(2).permutation(PLANTED)[:20] for _ in split.moments.desc_id])
    cosine = np.tile(np.linspace(0.9, 0.1, 20, dtype=np.float32), (len(order), 1))
    ranked = Ranked(split.moments.desc_id, order, cosine, split.moments.videos)
    searching = replace(SEARCHING, searched_videos=20)
    at_once = search(model, split.videos, split.queries, split.moments, searching, ranked).tasks()
    monkeypatch.setattr(type(model), "costly_pairs", lambda model: True)
    some = search(model, split.videos, split.queries, split.moments, searching, ranked).tasks()
    for task, lists in some.items():
        np.testing.assert_allclose(lists.score, at_once[task].score, rtol=2e-4, atol=1e-7)


def sharpen(model) -> None:
    """Logits so far apart that few spans of a video have all the probability, as after a training."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 3 and parameter.shape[0] == 1:  # the last convolution of the starts and ends
                parameter *= 60
            if name == "CMP.video_predictor.4.weight":
                parameter *= 5000
            if name == "log_temperature":
                parameter -= 4


def count_left_out(monkeypatch) -> list[int]:
    counts = []

    def counting(*arguments):
        found = localise_needed(*arguments)
        counts.append(found.left_out)
        return found

    monkeypatch.setattr("verified.benchmark.vcmr.search.localise_needed", counting)
    return counts
