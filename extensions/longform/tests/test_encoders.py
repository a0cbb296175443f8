"""Joint encoders: CLIP with random weights from a folder, for movies."""

import numpy as np
from media import counted, write_video
from tiny_models import clip

from verified.io.hdf5 import FeatureFile
from verified_longform.encoders import load_encoder, write_movie_features


def test_movies_are_encoded_frame_by_frame_at_the_rate(tmp_path):
    write_video(tmp_path / "a.mp4", counted(50, size=(48, 80)), fps=10)
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    movies = {"a": tmp_path / "a.mp4", "broken": tmp_path / "broken.mp4"}
    (tmp_path / "clip").mkdir()
    encoder = load_encoder(str(clip(tmp_path / "clip")))
    failed = write_movie_features(movies, encoder, "tiny-clip", 5.0, 7, tmp_path / "frames.h5")
    file = FeatureFile(tmp_path / "frames.h5")
    assert file["a"].shape == (25, 12) and list(failed) == ["broken"] and "broken" not in file
    write_movie_features({"a": movies["a"]}, encoder, "tiny-clip", 5.0, 64, tmp_path / "again.h5")
    assert np.abs(FeatureFile(tmp_path / "again.h5")["a"] - file["a"]).max() < 2e-3  # whatever the batch
