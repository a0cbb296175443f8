"""An index of a joint encoder: a tiny CLIP of random weights, from video files to moments."""

import numpy as np
import pytest
import torch
from feature_settings import video_features
from media import scenes, write_video
from small_index import SPANS, index_settings
from tiny_models import clip

from verified.config.features import Features
from verified.features.hub_models import Clip
from verified.features.video import write_video_features
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import write_jsonl
from verified.io.video import probe
from verified_search.ask import Index, vector_of, window_around_best
from verified_search.update import update

CAPTIONS = ("a bus drives by", "a cat sleeps", "two people talk", "rain falls")


def build(folder) -> str:
    """An index of four videos in `folder`; CLIP's folder."""
    (folder / "clip").mkdir()
    name = str(clip(folder / "clip"))
    rows, moments = [], []
    for number, caption in enumerate(CAPTIONS):
        path = folder / f"v{number}.mp4"
        write_video(path, scenes((16, 16, 8), seed=number))
        rows.append({"video": path.stem, "path": str(path), **probe(path)})
        moment = {"desc_id": number, "video": path.stem, "start": 1.0, "end": 3.0, "duration": 5.0, "split": "test"}
        moments.append({**moment, "caption": caption})
    write_jsonl(folder / "videos.jsonl", rows)
    write_jsonl(folder / "moments.jsonl", moments)
    seen = video_features("lab/clip", batch=16)
    write_video_features(rows, seen, 1.0, folder / "video.h5", (name, "c0ffee"))
    files = {"features": folder / "video.h5", "moments": folder / "moments.jsonl", "videos": folder / "videos.jsonl"}
    settings = index_settings("joint", Features(video_backbone=name), thumbnails=9)
    for _ in range(2):  # of which the second run changes nothing
        update(folder / "index", files, settings)
    return name


def expected(folder, name: str, sentence: str) -> dict[str, np.ndarray]:
    """Cosines of a sentence with the clips of each video, by CLIP itself."""
    model, features = Clip(name), FeatureFile(folder / "video.h5")
    text = model.sentences([sentence])[0][1]
    return {
        video: torch.cosine_similarity(
            torch.from_numpy(features[video][:]).float(), torch.from_numpy(text)[None]
        ).numpy()
        for video in features
    }


def test_a_sentence_finds_what_clip_says(tmp_path):
    name = build(tmp_path)
    index = Index(tmp_path / "index")
    assert [at for at, *_ in index.stored.videos[0]["thumbnails"]] == [0.5, 1.5, 2.5, 3.5, 4.5], "one a second"
    query = index.encoder.query("a cat sleeps")
    moments = index.moments(query, index.candidates(vector_of(query), 100), 4)
    cosines = expected(tmp_path, name, "a cat sleeps")
    order = sorted(cosines, key=lambda video: -cosines[video].max())
    assert [one.video for one in moments] == order
    for moment in moments:
        first, last = window_around_best(cosines[moment.video], SPANS["max_pred_clips"])
        assert moment.similarity == pytest.approx(cosines[moment.video].max(), abs=2e-3)
        assert moment.score == moment.similarity
        assert (moment.start, moment.end) == (first, min(last + 1, 5))
        assert moment.caption["coarse"] == CAPTIONS[int(moment.video[1:])] and moment.caption["fine"] == ""
    assert {one.video for one in index.ask("a cat sleeps", video="v2").moments} == {"v2"}
    assert index.ask("a cat sleeps").moments[0].video == "v1"  # by its caption
    own = index.stored.search_vectors(index.windows("v1")[0])
    assert index.like("v1", 0, 1).moments[0].similarity <= 1.001 and own.shape == (5, 12)
    assert index.encoder.query("rain")["unit"].norm() == pytest.approx(1, abs=1e-5)
    assert vector_of(index.encoder.query("rain")).shape == (12,)
