"""Many-to-many classes and instances, with an example of an encoder."""

import numpy as np
import pytest
from refusals import refused

from verified.statistics.clustering import many_to_many
from verified.statistics.embeddings import Embeddings, write_embeddings

DIRECTIONS = {"a ball moves": 0.0, "a ball is moving": 3.0, "a box grows": 60.0, "a star circles": 120.0}  # degrees


@pytest.fixture
def embeddings(tmp_path):
    angles = np.deg2rad(list(DIRECTIONS.values()))
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    write_embeddings(tmp_path / "embeddings.npz", list(DIRECTIONS), vectors, "example", "0" * 64)
    return Embeddings(tmp_path / "embeddings.npz")


def test_classes_and_instances_with_their_videos(embeddings):
    captions = [
        ("a box grows", "v1"),
        ("a ball moves", "v1"),
        ("a ball is moving", "v2"),
        ("a ball moves", "v1"),
        ("a star circles", "v1"),
        *[("a box grows", "v1")] * 3,
    ]
    rows = [{"desc_id": i, "video": video, "cog_desc": text} for i, (text, video) in enumerate(captions)]
    result = many_to_many(rows, "cog_desc", embeddings, 0.01, 2)
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


def test_embeddings_know_their_texts(embeddings):
    assert (embeddings.encoder, embeddings.weights) == ("example", "0" * 64)
    assert np.allclose(embeddings.lookup(["a ball moves"] * 2), [[1, 0], [1, 0]])
    with refused("captions"):
        embeddings.lookup(["never seen"])
