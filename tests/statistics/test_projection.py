"""The picture of clustered captions: coordinates and drawings."""

import numpy as np
import pytest
from given import fig

from verified.statistics.clustering import coordinates, nearest_distances, projection, unit
from verified.statistics.embeddings import Embeddings, write_embeddings

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
