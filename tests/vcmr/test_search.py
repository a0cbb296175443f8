"""The search against lists of the official inference script."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from vcmr_golden import Golden

from verified.benchmark.lists import suppress
from verified.benchmark.vcmr.models.xml import XML, XMLConfig
from verified.benchmark.vcmr.search import SearchSettings, encode_corpus, search

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"
CLIPS = 16


@dataclass
class Rows:
    """Padded features with a batch method, as search expects of videos and queries."""

    features: np.ndarray
    lengths: np.ndarray
    context: int = CLIPS
    slower: float = 0.0

    @property
    def clip_seconds(self):
        return 1 + self.slower * np.arange(len(self))

    def __len__(self):
        return len(self.lengths)

    def batch(self, index):
        width = self.features.shape[1]
        mask = torch.arange(width)[None] < torch.from_numpy(self.lengths[index])[:, None]
        return torch.from_numpy(self.features[index]), mask


@dataclass
class Moments:
    desc_id: np.ndarray
    video: np.ndarray


@pytest.fixture(scope="module")
def official():
    return json.loads((FIXTURES / "xml_inference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def inputs():
    with np.load(FIXTURES / "xml_inference_inputs.npz") as arrays:
        videos = Rows(arrays["video_feat"], arrays["video_len"])
        queries = Rows(arrays["query_feat"], arrays["query_len"])
        return videos, queries, Moments(np.arange(8), arrays["gt_video_index"])


@pytest.fixture(scope="module")
def model():
    model = XML(XMLConfig(video_dim=24, text_dim=20, context_clips=CLIPS, query_tokens=12, hidden=32))
    model.load_state_dict(Golden("xml").weights)
    model.official_batch = 5  # as in the fixture
    return model.eval()


SETTINGS = SearchSettings(min_pred_clips=2, max_pred_clips=7, searched_videos=10, rows=200, chunk=3)


@pytest.fixture(scope="module")
def found(model, inputs):
    return search(model, *inputs, replace(SETTINGS, padding="official")).tasks()


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
    lists = search(model, *inputs, replace(SETTINGS, padding=padding)).vcmr
    numbers = list(official["video2idx"].values())
    pairs = [
        (ours[:3], theirs[:3])
        for query, (_, rows) in enumerate(official["VCMR"])
        for ours, theirs in zip(rows_of(lists, query, numbers), rows, strict=True)
    ]
    assert len(pairs) == 1600
    assert sum(ours == theirs for ours, theirs in pairs) == in_place


@pytest.mark.parametrize("task", ["SVMR", "VCMR"])
@pytest.mark.parametrize("variant", ["0.5_from200", "0.5_from100", "0.6_from200", "0.6_from100"])
def test_lists_after_suppression_are_the_official_ones(official, found, task, variant):
    numbers = list(official["video2idx"].values())
    threshold, before = variant.split("_from")
    lists = suppress(found[task], float(threshold), before=int(before))
    for query, (_, rows) in enumerate(official["after_nms"][variant][task]):
        expected = [row[:3] for row in rows if row[3] > 0]
        assert [row[:3] for row in rows_of(lists, query, numbers)][: len(expected)] == expected


def test_chunks_and_blocks_do_not_change_lists(model, inputs, monkeypatch):
    whole = search(model, *inputs, SETTINGS).tasks()
    monkeypatch.setattr("verified.benchmark.vcmr.search.SCORED_AT_ONCE", 40)
    monkeypatch.setattr("verified.benchmark.vcmr.search.ENCODED_AT_ONCE", 2)
    parts = search(model, *inputs, SearchSettings(2, 7, searched_videos=10, rows=200, chunk=2)).tasks()
    for task in whole:
        assert (whole[task].video == parts[task].video).all()
        np.testing.assert_allclose(whole[task].score, parts[task].score, rtol=1e-4)


def test_spans_are_in_the_seconds_of_clips_of_their_video(model, inputs):
    plain = search(model, *inputs, SETTINGS).tasks()
    slow = search(model, replace(inputs[0], slower=0.25), *inputs[1:], SETTINGS).tasks()
    for task in ("SVMR", "VCMR"):
        assert (slow[task].video == plain[task].video).all()
        shown = plain[task].video >= 0
        seconds = (1 + 0.25 * plain[task].video)[shown]
        np.testing.assert_allclose(slow[task].start[shown], plain[task].start[shown] * seconds)
        np.testing.assert_allclose(slow[task].end[shown], plain[task].end[shown] * seconds)


def test_a_corpus_beyond_its_room_lies_in_a_file_and_is_the_same(model, inputs):
    videos = inputs[0]
    inside = encode_corpus(model, videos, SETTINGS)
    with torch.no_grad():
        outside = encode_corpus(model, videos, SearchSettings(2, 7, memory_mb=0))
    assert all(torch.equal(inside[name], outside[name]) for name in inside)
