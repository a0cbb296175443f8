"""Numbers of captions and their spans: confidence, words, classes of many to many, and the picture of them."""

from itertools import product

import numpy as np
import pytest
from given import fig
from refusals import refused

from verified.statistics.clustering import coordinates, many_to_many, nearest_distances, projection, unit
from verified.statistics.embeddings import Embeddings, write_embeddings
from verified.statistics.language import averages, load_tagger, tally
from verified.statistics.summaries import confidence, spans


def row(score: float, start: float = 0.0, end: float = 5.0, kind: str | None = None) -> dict:
    typed = {"fig_desc_type": kind} if kind else {}
    return {"video": "v", "time": [start, end], "duration": 10.0, "fig_desc_score": score, **typed}


def test_scores_by_type_and_overall():
    result = confidence(
        [row(1.0, kind="statics"), row(1.9, kind="statics"), row(0.0, kind="statics"), row(-0.6, kind="dynamics")]
    )
    assert (result["statics_count"], result["statics_confidence"]) == (3, pytest.approx(2.9 / 3))
    assert (result["dynamics_count"], result["dynamics_confidence"]) == (1, -0.6)
    assert result["total_confidence"] == pytest.approx(0.575) and result["span_seconds"] == 5.0
    scores = result["scores"]
    assert scores["edges"] == [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    assert scores["total"]["counts"] == [1, 0, 1, 0, 1, 1] and scores["total"]["positive"] == 0.5
    assert sum(scores["types"]["dynamics"]["counts"]) == 1
    assert confidence([row(0.0, 8.0, 14.2)])["span_seconds"] == pytest.approx(6.2), "also past the end, at 10"
    assert scores["total"]["deviation"] == pytest.approx(np.std([1.0, 1.9, 0.0, -0.6]))


def test_spans_past_the_end_count_as_they_stand_and_clamped():
    result = spans(
        [row(0, 7.6, 10), row(0, 8, 14.2), row(0, 11, 12), row(0, 10, 11) | {"video": "w", "duration": 20.0}]
    )
    assert (result["captions"], result["videos"], result["past_end"]) == (4, 2, 2)
    numbers = {"mean_seconds": 2.65, "mean_seconds_clamped": 1.35, "median_seconds": 1.7}
    numbers |= {"shortest_seconds": 1.0, "longest_seconds": 6.2}
    assert {name: result[name] for name in numbers} == pytest.approx(numbers)
    assert result["length_seconds"] == {"edges": [0, 2, 4, 6, 8], "counts": [2, 1, 0, 1]}
    places = {name: np.repeat(np.arange(20), result[name]["counts"]).tolist() for name in ("start", "end", "share")}
    assert places == {"start": [10, 15, 16, 19], "end": [11, 19, 19, 19], "share": [1, 2, 4, 12]}


def measure(texts, tagger, processes=1):
    return averages([tally(texts, tagger, processes)])


@pytest.fixture(scope="module")
def tagger():
    return load_tagger("en_core_web_sm")


def test_one_sentence_counted_by_hand(tagger):
    result = measure(["The red ball is rolling past Peter."], tagger)
    assert result == {"captions": 1, "vocab": 8, "words": 7.0, "nouns": 2.0, "verbs": 1.0, "adjectives": 1.0}
    assert measure(["two dogs ran", "a dog runs"], tagger)["vocab"] == 4, "lemmas: two, dog, run, a"


def test_repeated_captions_weigh_as_often_as_they_stand(tagger):
    result = measure([*["The boy throws a red ball."] * 3, "A dog is running."], tagger)
    assert result == {"captions": 4, "vocab": 10, "words": 5.5, "nouns": 1.75, "verbs": 1, "adjectives": 0.75}
    lists = [tally(texts, tagger) for texts in (["The boy throws a red ball."] * 3, ["A dog is running."])]
    assert averages(lists) == result, "a list weighs by its captions"


def test_several_processes_count_the_same(tagger, monkeypatch):
    monkeypatch.setattr("verified.statistics.language.FORK_FROM", 1)
    texts = [" ".join(words) for words in product(("a",), ("red", "blue"), ("ball", "box"), ("moves", "grew"))]
    assert measure(texts, tagger, processes=2) == measure(texts, tagger)


def test_captions_in_other_scripts_are_counted_and_not_tagged(tagger):
    one = tally(["A dog runs.", "一个男人打开门。", "Собака бежит."], tagger)
    assert (one["captions"], one["other_scripts"], one["words"]) == (1, 2, 3)


DIRECTIONS = {"a ball moves": 0.0, "a ball is moving": 3.0, "a box grows": 60.0, "a star circles": 120.0}  # degrees


@pytest.fixture
def directions(tmp_path):
    angles = np.deg2rad(list(DIRECTIONS.values()))
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    write_embeddings(tmp_path / "embeddings.npz", list(DIRECTIONS), vectors, "example", "0" * 64)
    return Embeddings(tmp_path / "embeddings.npz")


def test_classes_and_instances_with_their_videos(directions):
    captions = [
        ("a box grows", "v1"),
        ("a ball moves", "v1"),
        ("a ball is moving", "v2"),
        ("a ball moves", "v1"),
        ("a star circles", "v1"),
        *[("a box grows", "v1")] * 3,
    ]
    rows = [{"desc_id": i, "video": video, "cog_desc": text} for i, (text, video) in enumerate(captions)]
    result = many_to_many(rows, "cog_desc", directions, 0.01, 2)
    assert (result["classes"], result["instances"], result["classes_over_videos"]) == (2, 7, 1)
    assert (result["captions"], result["distinct"]) == (8, 4)
    assert result["members"] == [
        {"size": 4, "videos": 1, "captions": [{"caption": "a box grows", "desc_id": [0, 5, 6, 7]}]},
        {
            "size": 3,
            "videos": 2,
            "captions": [
                {"caption": "a ball moves", "desc_id": [1, 3]},
                {"caption": "a ball is moving", "desc_id": [2]},
            ],
        },
    ]


def test_embeddings_know_their_texts(directions):
    assert (directions.encoder, directions.weights) == ("example", "0" * 64)
    assert np.allclose(directions.lookup(["a ball moves"] * 2), [[1, 0], [1, 0]])
    with refused("captions"):
        directions.lookup(["never seen"])


COARSE = ["a ball moves", "a box grows", "a star circles"]


@pytest.fixture
def annotations(tmp_path):
    """Twelve moments: two coarse captions shared by five each, one by two; fine captions all different."""
    rng = np.random.default_rng(0)
    texts = [COARSE[0]] * 5 + [COARSE[1]] * 5 + [COARSE[2]] * 2
    rows = [
        fig(i, f"v{i}", cog_desc=text, fig_desc=f"{text} {i}", fig_desc_type=("statics", "dynamics")[i % 2])
        for i, text in enumerate(texts)
    ]
    captions = [*COARSE, *(row["fig_desc"] for row in rows)]
    write_embeddings(tmp_path / "e.npz", captions, rng.normal(size=(len(captions), 16)), "example", "0")
    return rows, Embeddings(tmp_path / "e.npz")


def test_instances_of_coarse_classes_are_placed_before_and_after(annotations):
    rows, embeddings = annotations
    result = projection(rows, embeddings, 0.01, 5, seed=1)
    assert (result["classes"], result["instances"], result["fine_classes"], result["fine_instances"]) == (2, 10, 0, 0)
    assert [point["class"] for point in result["points"]] == [0] * 5 + [1] * 5
    for name, key in (("cog", "cog_desc"), ("fig", "fig_desc")):
        placed = coordinates([row[key] for row in rows[:10]], embeddings, 1)
        assert [point[name] for point in result["points"]] == placed and len(placed[0]) == 2
    assert result == projection(rows, embeddings, 0.01, 5, seed=1)


def test_coarse_captions_alone_are_placed_alone(annotations):
    rows, embeddings = annotations
    whole = projection(rows, embeddings, 0.01, 5, seed=1)
    alone = [{key: value for key, value in row.items() if not key.startswith("fig_")} for row in rows]
    result = projection(alone, embeddings, 0.01, 5, seed=1)
    assert result["points"] == [{**point, "fig": None} for point in whole["points"]]
    assert (result["instances"], result["fine_classes"], result["fine_instances"]) == (10, None, None)


def test_too_few_instances_are_not_placed(annotations):
    rows, embeddings = annotations
    result = projection(rows, embeddings, 0.01, 6, seed=1)
    assert result["points"] == [] and sum(result["nearest"]["counts"]) == len(COARSE)
    vectors = unit(embeddings.lookup(COARSE))
    apart = [float(min(np.delete(1 - vectors @ vector, index))) for index, vector in enumerate(vectors)]
    assert nearest_distances(vectors) == pytest.approx(apart, abs=1e-6)
    assert result["nearest"]["edges"][-1] == pytest.approx(max(0.1, *apart), abs=1e-5)
    assert projection(rows, embeddings, 0.01, 5, seed=1)["nearest"] is None
    assert projection(rows[:2], embeddings, 0.01, 6, seed=1)["nearest"] is None, "a single caption has no other"
    assert projection(rows[-2:], embeddings, 0.01, 2, seed=1)["points"][0]["cog"] is None
