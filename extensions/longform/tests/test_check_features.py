"""Feature files of movies are checked before a run."""

import json

import h5py
import numpy as np
import pytest
import yaml

from verified.config import read
from verified_longform.preflight import feature_findings

DIM, SECONDS = 16, 20.0


def clips(count=20):
    return np.ones((count, DIM), np.float32)


def write(path, items, **attributes):
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for key, values in items.items():
            file.create_dataset(key, data=values)


def found(folder):
    return [(one.level, one.message) for one in feature_findings(read(folder / "c.yaml"))]


def movies(tmp_path):
    """A data set of two movies of 20 s in MAD's form, with features at 5 frames a second that fit."""
    rows = {
        str(number): {"movie": movie, "sentence": "A dog.", "movie_duration": SECONDS}
        | {"timestamps": [1, 2], "ext_timestamps": [1, 2]}
        for number, movie in enumerate("ab")
    }
    (tmp_path / "test.json").write_text(json.dumps(rows))
    write(tmp_path / "feat/frames.h5", {movie: clips(100) for movie in "ab"})
    write(tmp_path / "feat/tokens.h5", {number: clips(4) for number in rows})
    write(tmp_path / "feat/sentences.h5", {number: np.ones(DIM, np.float32) for number in rows})
    source = {"kind": "mad", "annotations": {"test": f"{tmp_path}/test.json"}}
    source |= {name: f"{tmp_path}/feat/{name}.h5" for name in ("frames", "tokens", "sentences")}
    section = {"datasets": {"mine": {"title": "Mine", "source": source}}, "models": ["zero-shot"]}
    return {"name": "own", "longform": section}


NAMED = {
    "movies at half the rate": (movies, "frames", {"a": clips(50), "b": clips(100)}, "problem", "a (50 clips"),
    "half of a movie": (movies, "frames", {"a": clips(100), "b": clips(49)}, "problem", "b (49 clips"),
    "movies of two widths": (movies, "frames", {"a": clips(100), "b": clips(100)[:, :8]}, "problem", "b [100, 8]"),
    "no movie": (movies, "frames", {"a.mp4": clips(100)}, "problem", "2 of 2 movies: a, b"),
    "one movie": (movies, "frames", {"a": clips(100)}, "note", "1 of 2 movies: b"),
    "tokens of other width": (movies, "tokens", {"0": clips(4), "1": clips(4)[:, :8]}, "problem", "1 [4, 8]"),
    "tokens pooled": (movies, "tokens", {"0": clips(1), "1": np.full((3, DIM), np.nan)}, "problem", "finite: 1"),
    "one sentence": (movies, "sentences", {"1": np.ones(DIM)}, "note", "1 of 2 annotations: 0"),
    "sentences stacked": (movies, "sentences", {"all": clips(2)}, "problem", "2 of 2 annotations: 0, 1"),
}


@pytest.mark.parametrize(("made", "file", "items", "level", "named"), NAMED.values(), ids=NAMED)
def test_every_feature_file_that_is_named_is_opened(tmp_path, made, file, items, level, named):
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(made(tmp_path)))
    assert {kind for kind, _ in found(tmp_path)} == {"ok"}
    write(tmp_path / f"feat/{file}.h5", items)
    ((said, message),) = (one for one in found(tmp_path) if one[0] != "ok")
    assert said == level and f"{file}.h5" in message and named in message
