"""Joint encoders: CLIP with random weights from a folder, for movies, and for the retrieval models."""

import numpy as np
import pytest
import torch
from media import counted, write_video
from tiny_models import clip
from transformers import CLIPModel

from verified.features.hub_models import Clip
from verified.io.hdf5 import FeatureFile
from verified_longform.encoders import load_encoder, write_movie_features


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return clip(tmp_path_factory.mktemp("clip"))


def test_frames_and_sentences_are_those_of_the_library(folder):
    clip, model = Clip(str(folder)), CLIPModel.from_pretrained(folder).eval()
    assert (clip.size, clip.dim) == (32, 12)
    frames = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    mean, deviation = (
        np.array(values) for values in ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
    )
    pixels = torch.tensor((frames / 255 - mean) / deviation, dtype=torch.float32).permute(0, 3, 1, 2)
    with torch.no_grad():
        expected = model.visual_projection(model.vision_model(pixels).pooler_output).numpy()
    assert np.abs(clip(frames) - expected).max() < 1e-5
    (tokens, whole), (longer, _) = clip.sentences(["ab", "abc de"])
    assert tokens.shape == (4, 12) and longer.shape == (7, 12)  # start and end with the letters
    assert np.abs(tokens[-1] - whole).max() < 1e-6  # the sentence is its end token
    (alone, _), *_ = clip.sentences(["ab"])
    assert np.abs(alone - tokens).max() < 1e-5  # padding changes nothing


def test_movies_are_encoded_frame_by_frame_at_the_rate(folder, tmp_path):
    write_video(tmp_path / "a.mp4", counted(50, size=(48, 80)), fps=10)
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    movies = {"a": tmp_path / "a.mp4", "broken": tmp_path / "broken.mp4"}
    encoder = load_encoder(str(folder))
    failed = write_movie_features(movies, encoder, "tiny-clip", 5.0, 7, tmp_path / "frames.h5")
    file = FeatureFile(tmp_path / "frames.h5")
    assert file["a"].shape == (25, 12) and list(failed) == ["broken"] and "broken" not in file
    write_movie_features({"a": movies["a"]}, encoder, "tiny-clip", 5.0, 64, tmp_path / "again.h5")
    assert np.abs(FeatureFile(tmp_path / "again.h5")["a"] - file["a"]).max() < 2e-3  # whatever the batch
