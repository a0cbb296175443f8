"""Search by captions, the joint score of all parts, and whether the corpus contains the query."""

import subprocess
import sys

import numpy as np
import pytest
from small_index import random_videos, write_corpus

from verified.io.fig import write_fig
from verified.io.jsonl import read_jsonl
from verified.nn.sentences import encode
from verified_search.ask import Index, window_around_best
from verified_search.captions import Captions, Words
from verified_search.fusion import above_average, salience, shares, weights_of
from verified_search.origin import caution, ranked_before, ranking_of, skill
from verified_search.presence import PASSES, UNRELATED, hint, nearest_caption, unrelated_scores
from verified_search.update import update


def test_a_quiet_command_does_not_load_transformers():
    quietly = "import sys, verified; from verified_search.cli import quiet; quiet(); "
    loaded = "sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", quietly + loaded]).returncode == 0


def test_sentences_near_a_caption_and_near_none_are_distinguished():
    texts = ["a rabbit stretches", "the Earth is seen from space", "a man talks in a car"]
    rows = [{"video": "v", "start": 0.0, "end": 1.0, "fine": "", "coarse": text} for text in texts]
    captions = Captions(rows, dict(zip(texts, encode(texts))))
    scores = np.array(unrelated_scores(captions))
    assert len(scores) == len(UNRELATED) == len(set(UNRELATED))

    def share(sentence: str) -> float:
        return (scores >= nearest_caption(captions, sentence)).mean()

    assert share("our planet") < PASSES < share("someone writes an invoice")
    assert hint(PASSES) == "" != hint(PASSES + 0.01) and unrelated_scores(Captions([], {})) == []
    many = [{"video": "v", "start": 0.0, "end": 1.0, "fine": "", "coarse": text} for text in UNRELATED[::4]]
    assert unrelated_scores(Captions(many, dict(zip(UNRELATED, encode(UNRELATED))))) == [], "the corpus shows them"


SCENES = (
    ("a person drinks", "a woman in a green coat drinks a cup of hot coffee by the window"),
    ("a dog runs", "a small brown dog runs across the beach towards the sea"),
    ("a man cooks", "a man with a beard fries two eggs in a pan on the stove"),
    ("a train leaves", "a red train leaves the station in heavy rain"),
)


def test_a_sentence_in_other_words_finds_the_moment_that_was_described(tmp_path):
    """In four videos with captions of real things, and four of which nothing was written."""
    files, settings = write_corpus(tmp_path, random_videos(8))
    rows = read_jsonl(files["annotations"][0])[: len(SCENES)]
    for row, (coarse, fine) in zip(rows, SCENES):
        row["cog_desc"], row["fig_desc"] = coarse, fine
    write_fig(files["annotations"][0], rows)
    update(tmp_path / "index", files, settings)
    index = Index(tmp_path / "index")
    for query, video in (
        ("she is having an espresso", "v0000"),
        ("a puppy at the seaside", "v0001"),
        ("someone prepares breakfast", "v0002"),
        ("locomotive", "v0003"),
    ):
        best = index.ask(query).moments[0]
        assert (best.video, best.start, best.end) == (video, 0.0, 2.0) and best.caption["overlap"] == 1
    answer = index.ask("a red train leaves the station in heavy rain", top=8)
    best = answer.moments[0]
    assert set(best.parts) == {"words", "fine", "coarse", "xml"} and best.parts["fine"] > best.parts["words"] > 0
    for moment in answer.moments:
        assert 0 <= moment.score <= 1 and sum(moment.parts.values()) == pytest.approx(moment.score, abs=3e-4)
    assert [one.score for one in answer.moments] == sorted((one.score for one in answer.moments), reverse=True)
    # What nothing was written about is found by the model alone, one video by itself too.
    assert {one.video for one in index.ask("rain", video="v0006").moments} == {"v0006"}


class Ranked:
    """An index of 30 videos of one clip each, on a circle."""

    def __init__(self):
        self.positions = {f"v{n:02d}": (0, n) for n in range(30)}

    def clip_vectors(self, video: str) -> np.ndarray:
        angle = int(video[1:]) / 30 * 2 * np.pi
        return np.array([[np.cos(angle), np.sin(angle)]])


@pytest.mark.parametrize("right", [True, False])
def test_a_ranking_is_measured_against_chance(right):
    index, draw = Ranked(), np.random.default_rng(3)
    names = sorted(index.positions)
    asked = [
        (video, index.clip_vectors(video if right else names[draw.integers(30)])[0], frozenset()) for video in names
    ]
    before = ranked_before(index, asked, 1)
    ranking = ranking_of("xml", before)
    assert ranking["trusted"] is right and before["queries"] == 30
    assert not ranking_of("xml", {**before, "value": 0.9, "low": 0.6})["trusted"]
    assert skill(ranking_of("xml", {**before, "value": 0.9, "low": 0.8})) == pytest.approx(0.8)
    assert ranked_before(index, [(name, np.zeros(2), frozenset()) for name in names], 1)["value"] == 0.5, "all tie"
    assert (skill(ranking) > 0.9) if right else (skill(ranking) == 0)
    said = caution(ranking, captions=False)
    assert ("close to random" in said) if not right else said == ""
    assert ranked_before(index, asked[:5], 1) is None
    assert "not measured" in caution(ranking_of("xml", None), captions=True) and skill(ranking_of("joint", None)) == 0.5


def test_scores_say_how_far_above_the_average_a_moment_is():
    scores = above_average(np.array([0.9, 0.3, 0.3, 0.3]))
    assert 0 < scores[1] < scores[0] < 1 and above_average(np.ones(1))[0] > 0.9  # a corpus of one is no yardstick
    assert above_average(np.zeros(3)).tolist() == [0, 0, 0]
    background = np.random.default_rng(0).normal(0.2, 0.1, 2000)
    assert salience(np.array([0.2, 0.4, 9.0]), background) == pytest.approx([0, 0.5, 1], abs=0.03)
    known = salience(np.array([0.2, 0.4, 9.0, 0.9]), background, near=1.8)
    assert known == pytest.approx([0, 0.4 / 1.8, 1, 0.5], abs=0.03), "no nearer than the part of what would be near"
    weighed = [weights_of(model, 0.5, model == "joint")[model] for model in ("xml", "joint")]
    assert weighed == [0.25, 1.0] and weights_of("xml", 0.0, False)["xml"] == 0.01
    put = shares({"words": np.array([1.0]), "xml": np.array([0.5])}, {"words": 3.0, "xml": 1.0, "fine": 9.0})
    assert {name: values.tolist() for name, values in put.items()} == {"words": [0.75], "xml": [0.125]}


def test_a_short_text_counts_more_than_a_long_one_with_the_same_word():
    short, long = Words(["a dog", "a dog that runs along a beach"]).scores("dog")
    assert short > long > 0


def test_the_window_around_the_best_clip_is_its_upper_half_and_grows_to_the_earlier_of_equals():
    similarity = np.array([0.1, 0.7, 0.8, 1.0, 0.8, 0.4, 0.1])  # on average 0.56, so from 0.78 on
    assert window_around_best(similarity, 7) == (2, 4) and window_around_best(similarity, 2) == (2, 3)
    assert window_around_best(similarity[1:2], 4) == (0, 0)
