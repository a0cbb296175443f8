"""Pairs that are left out of localisation change no byte of a list."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from planted import plant, small_model

from verified.benchmark.lists import NO_VIDEO
from verified.benchmark.vcmr import decode
from verified.benchmark.vcmr.contract import Spans
from verified.benchmark.vcmr.decode import best_spans, localise_needed
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings, search

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
