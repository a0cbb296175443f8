"""The search and the spans decoded from logits, against lists of the official inference script."""

import itertools
import json
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from vcmr_golden import FOLDER, Golden

from verified.benchmark.vcmr.contract import ModelConfig, RetrievalModel
from verified.benchmark.vcmr.decode import best_spans, spans_of_windows
from verified.benchmark.vcmr.models.xml import XML, XMLConfig
from verified.benchmark.vcmr.search import SearchSettings, encode_corpus, search

CLIPS = 16


@dataclass
class Rows:
    features: np.ndarray
    clips: np.ndarray
    context: int = CLIPS
    slower: float = 0.0

    @property
    def clip_seconds(self):
        return 1 + self.slower * np.arange(len(self))

    def __len__(self):
        return len(self.clips)

    def batch(self, index):
        width = self.features.shape[1]
        mask = torch.arange(width)[None] < torch.from_numpy(self.clips[index])[:, None]
        return torch.from_numpy(self.features[index]), mask


@pytest.fixture(scope="module")
def official():
    return json.loads((FOLDER / "xml_inference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def inputs():
    with np.load(FOLDER / "xml_inference_inputs.npz") as arrays:
        videos = Rows(arrays["video_feat"], arrays["video_len"])
        queries = Rows(arrays["query_feat"], arrays["query_len"])
        return videos, queries, SimpleNamespace(desc_id=np.arange(8), video=arrays["gt_video_index"])


@pytest.fixture(scope="module")
def model():
    model = XML(XMLConfig(video_dim=24, text_dim=20, context_clips=CLIPS, query_tokens=12, hidden=32))
    model.load_state_dict(Golden("xml").weights)
    model.official_batch = 5  # as in the fixture
    return model.eval()


SETTINGS = SearchSettings(min_pred_clips=2, max_pred_clips=7, searched_videos=10, rows=200, chunk=5)


@pytest.fixture(scope="module")
def found(model, inputs):
    return search(model, *inputs, replace(SETTINGS, padding="official"))


def rows_of(lists, query, numbers):
    count = lists.counts()[query]
    return [
        [numbers[lists.video[query, row]], lists.start[query, row], lists.end[query, row], lists.score[query, row]]
        for row in range(count)
    ]


@pytest.mark.parametrize("task", ["VR", "SVMR", "VCMR"])
def test_lists_are_those_of_the_official_inference(official, found, task):
    numbers = list(official["video2idx"].values())
    for query, (_, rows) in enumerate(official[task]):
        expected = [row for row in rows if row[3] > 0]
        actual = rows_of(found[task], query, numbers)
        assert [row[:3] for row in actual] == [row[:3] for row in expected]
        np.testing.assert_allclose([row[3] for row in actual], [row[3] for row in expected], rtol=1e-4)


@pytest.mark.parametrize(("padding", "in_place"), [("context", 425), ("official", 1600)])
def test_rows_of_vcmr_stand_where_the_official_ones_do_if_videos_are_padded_alike(
    model, inputs, official, padding, in_place
):
    lists = search(model, *inputs, replace(SETTINGS, padding=padding))["VCMR"]
    numbers = list(official["video2idx"].values())
    pairs = [
        (ours[:3], theirs[:3])
        for query, (_, rows) in enumerate(official["VCMR"])
        for ours, theirs in zip(rows_of(lists, query, numbers), rows, strict=True)
    ]
    assert len(pairs) == 1600
    assert sum(ours == theirs for ours, theirs in pairs) == in_place


def test_chunks_and_blocks_do_not_change_lists(model, inputs, monkeypatch):
    whole = search(model, *inputs, SETTINGS)
    monkeypatch.setattr("verified.benchmark.vcmr.search.SCORED_AT_ONCE", 40)
    monkeypatch.setattr("verified.benchmark.vcmr.search.ENCODED_AT_ONCE", 2)
    parts = search(model, *inputs, SearchSettings(2, 7, searched_videos=10, rows=200, chunk=2))
    for task in whole:
        assert (whole[task].video == parts[task].video).all()
        np.testing.assert_allclose(whole[task].score, parts[task].score, rtol=1e-4)


def test_spans_are_in_the_seconds_of_clips_of_their_video(model, inputs):
    plain = search(model, *inputs, SETTINGS)
    slow = search(model, replace(inputs[0], slower=0.25), *inputs[1:], SETTINGS)
    for task in ("SVMR", "VCMR"):
        assert (slow[task].video == plain[task].video).all()
        shown = plain[task].video >= 0
        seconds = (1 + 0.25 * plain[task].video)[shown]
        np.testing.assert_allclose(slow[task].start[shown], plain[task].start[shown] * seconds)
        np.testing.assert_allclose(slow[task].end[shown], plain[task].end[shown] * seconds)


def test_a_corpus_beyond_its_room_lies_in_a_file_and_is_the_same(model, inputs):
    videos = inputs[0]
    inside = encode_corpus(model, videos, SETTINGS)
    outside = encode_corpus(model, videos, SearchSettings(2, 7, memory_mb=0))
    assert all(torch.equal(inside[name], outside[name]) for name in inside)


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


@pytest.mark.parametrize("case", json.loads((FOLDER / "labels_masks_sampling.json").read_text())["length_masks"])
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
