"""The paper's figures from the published Charades-FIG files, where they are at hand."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from verified.io.fig import read_fig
from verified.statistics.summaries import confidence, spans

RELEASED = Path(__file__).resolve().parents[3] / "shared" / "data" / "charades-fig"
pytestmark = pytest.mark.skipif(not RELEASED.is_dir(), reason="released annotations are not at ../shared/data")


@pytest.fixture(scope="module")
def rows():
    return [row for split in ("train", "test") for row in read_fig(RELEASED / f"charades_fig_{split}.jsonl")]


def test_words_per_caption(rows):
    means = [np.mean([len(row[key].split()) for row in rows]) for key in ("cog_desc", "fig_desc")]
    assert [f"{mean:.2f}" for mean in means] == ["6.21", "15.38"]


def test_span_and_confidence(rows):
    result = confidence(rows)
    assert f"{result['span_seconds']:.2f} {result['total_confidence']:.2f}" == "8.23 1.32"
    assert spans(rows)["mean_seconds_clamped"] == pytest.approx(8.1083, abs=5e-5)
    by_unit = Counter()
    for edge, count in zip(result["scores"]["edges"], result["scores"]["total"]["counts"]):
        by_unit[math.floor(edge)] += count
    assert [by_unit[unit] for unit in range(-6, 5)] == [12, 109, 349, 672, 914, 1243, 2100, 3977, 4085, 2513, 154]


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_parts_of_speech(rows):
    from verified.statistics.language import averages, load_tagger, tally

    tagger = load_tagger("en_core_web_sm")
    coarse, fine = (averages([tally([row[key] for row in rows], tagger)]) for key in ("cog_desc", "fig_desc"))
    assert (f"{coarse['nouns']:.2f}", f"{fine['nouns']:.2f}") == ("2.33", "4.91")
    assert (coarse["vocab"], fine["vocab"]) == (989, 2595)
    assert coarse["verbs"] == pytest.approx(1.1739, abs=1e-3) and fine["adjectives"] == pytest.approx(1.1658, abs=1e-3)


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_many_to_many(rows, tmp_path):
    from verified.nn.sentences import PACKAGED, encode, weights_digest
    from verified.statistics.clustering import many_to_many
    from verified.statistics.embeddings import Embeddings, write_embeddings

    texts = list(dict.fromkeys(row[key] for key in ("cog_desc", "fig_desc") for row in rows))
    write_embeddings(tmp_path / "e.npz", texts, encode(texts), PACKAGED, weights_digest())
    embeddings = Embeddings(tmp_path / "e.npz")
    coarse = many_to_many(rows, "cog_desc", embeddings, 0.01, 2)
    fine = many_to_many(rows, "fig_desc", embeddings, 0.01, 2)
    assert coarse["classes"] == 1393 and abs(coarse["instances"] - 8805) <= 3
    assert (fine["classes"], fine["instances"]) == (194, 422)
    assert abs(coarse["classes_over_videos"] - 1381) <= 3 and fine["classes_over_videos"] == 92
