"""Vectors of movies by an embedder that knows brightness."""

import numpy as np
from brightness import bright_between, brightness_session

from verified.io.hdf5 import FeatureFile
from verified_longform.embedded import spread, write_embedded_movies


def test_movies_have_a_vector_for_every_frame_of_the_grid(tmp_path):
    rows = [bright_between(tmp_path / f"v{n}.mp4", 6.0, n + 1, n + 3) for n in range(3)]
    videos = {row["video"]: row for row in rows}
    assert spread(np.eye(3), 2.5, 2.0, 1.0).argmax(axis=1).tolist() == [0, 0, 1, 1, 2]
    rows = [{"id": "a", "movie": "v0", "sentence": "bright"}, {"id": "b", "movie": "v1", "sentence": "dark"}]
    with brightness_session(tmp_path) as session:
        write_embedded_movies(videos, rows, 2.0, session, tmp_path / "frames.h5", tmp_path / "sentences.h5")
    frames, sentences = FeatureFile(tmp_path / "frames.h5"), FeatureFile(tmp_path / "sentences.h5")
    assert frames["v0"].shape == (12, 2) and sentences["b"].shape == (1, 2)
    near = frames["v0"] @ sentences["a"][0]
    assert (near > 0).tolist() == [False] * 2 + [True] * 4 + [False] * 6
