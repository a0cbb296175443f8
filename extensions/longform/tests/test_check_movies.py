"""Checks of movies before a run: files of movies, their features, and expected exclusions."""

import json
import wave

import numpy as np
import pytest
import yaml
from feature_settings import write_arrays
from refusals import names
from sounds import tone

from verified.__main__ import main
from verified.config import read
from verified_longform.config import MAD_ENCODER, Longform
from verified_longform.preflight import feature_findings

HEADER = "movie,track,described,transcript,subtitles,split\n"
SPOKEN = "1\n00:00:00,000 --> 00:00:00,500\nA dog runs.\n"


def files_of_movies(folder):
    for name in ("a.wav", "b.wav", "d.wav"):
        with wave.open(str(folder / name), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes((tone(0.5) * 32767).astype("<i2").tobytes())
    for name in ("a.srt", "b.srt"):
        (folder / name).write_text(SPOKEN)


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Write a configuration of one data set of described movies, check it, and return (status, lines printed)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").mkdir()

    def run(model: str = "zero-shot") -> tuple[int, str]:
        section = {"datasets": {"mine": {"title": "Mine", "source": DESCRIBED}}, "models": [model]}
        values = {"name": "own", "longform": section | {"encoder": "packaged-joint"}}
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(values))
        status = main(["check", "--offline", "--configfile", "own.yaml"])
        return status, capsys.readouterr().out

    return run


DESCRIBED = {"kind": "described", "manifest": "m.csv", "videos": "films"}


@pytest.mark.parametrize(("more", "encoder"), [((), "packaged-joint"), (("mad",), MAD_ENCODER)])
def test_own_movies_alone_have_the_packaged_encoder(more, encoder, tmp_path):
    """Any published ones beside them are encoded as MAD's are."""
    sources = {"mine": DESCRIBED, "mad": {"kind": "mad", "annotations": {"test": "t.json"}, "videos": "mad"}}
    sets = {name: {"title": name, "source": sources[name]} for name in ("mine", *more)}
    section = {"datasets": sets, "models": ["zero-shot"]}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"name": "own", "longform": section}))
    assert read(tmp_path / "c.yaml").section(Longform).encoder == encoder


def test_a_movie_without_a_file_or_a_video_is_a_note_and_all_of_them_a_problem(check, tmp_path):
    (tmp_path / "m.csv").write_text(HEADER + "a,a.wav,d.wav,a.srt,,test\nb,b.wav,d.wav,b.srt,,test\n")
    status, shown = check()
    assert status == 1 and names(shown, "problem", "mine.source", "2 of 2", "a.wav", "b.wav")
    files_of_movies(tmp_path)
    (tmp_path / "films" / "a.mp4").touch()
    status, shown = check()
    assert status == 0 and names(shown, "note", "mine.source", "1 of 2", "b (no video in films)")
    (tmp_path / "films" / "b.mkv").touch()
    assert names(check()[1], "ok", "mine.source", "2 movies")


def test_a_movie_whose_files_cannot_be_read_is_named_before_it_is_collected(check, tmp_path):
    (tmp_path / "m.csv").write_text(HEADER + "a,a.wav,d.wav,a.srt,,test\nb,b.wav,d.wav,b.srt,c.srt,train\n")
    files_of_movies(tmp_path)
    (tmp_path / "c.srt").write_bytes(SPOKEN.replace("dog", "caf\xe9").encode("latin-1"))
    for name in ("a", "b"):
        (tmp_path / "films" / f"{name}.mp4").touch()
    status, shown = check()
    assert status == 0 and names(shown, "note", "mine.source", "1 of 2", "b (c.srt", "not UTF-8")
    status, shown = check("vlg-net")
    assert status == 1 and names(shown, "problem", "mine.source", "'train'", "vlg-net")
    (tmp_path / "c.srt").write_text(SPOKEN)
    assert check("vlg-net")[0] == 0
    (tmp_path / "a.wav").write_bytes(b"no sound")
    status, shown = check()
    assert status == 1 and names(shown, "note", "a (a.wav") and names(shown, "problem", "'test'")


DIM, SECONDS = 16, 20.0


def clips(count=20):
    return np.ones((count, DIM), np.float32)


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
    write_arrays(tmp_path / "feat/frames.h5", {movie: clips(100) for movie in "ab"})
    write_arrays(tmp_path / "feat/tokens.h5", {number: clips(4) for number in rows})
    write_arrays(tmp_path / "feat/sentences.h5", {number: np.ones(DIM, np.float32) for number in rows})
    source = {"kind": "mad", "annotations": {"test": f"{tmp_path}/test.json"}}
    source |= {name: f"{tmp_path}/feat/{name}.h5" for name in ("frames", "tokens", "sentences")}
    section = {"datasets": {"mine": {"title": "Mine", "source": source}}, "models": ["zero-shot"]}
    return {"name": "own", "longform": section}


NAMED = {
    "movies at half the rate": ("frames", {"a": clips(50), "b": clips(100)}, "problem", "a (50 clips"),
    "one movie": ("frames", {"a": clips(100)}, "note", "1 of 2 movies: b"),
    "tokens pooled": ("tokens", {"0": clips(1), "1": np.full((3, DIM), np.nan)}, "problem", "finite: 1"),
    "one sentence": ("sentences", {"1": np.ones(DIM)}, "note", "1 of 2 annotations: 0"),
}


@pytest.mark.parametrize(("file", "items", "level", "named"), NAMED.values(), ids=NAMED)
def test_every_feature_file_that_is_named_is_opened(tmp_path, file, items, level, named):
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(movies(tmp_path)))
    assert {kind for kind, _ in found(tmp_path)} == {"ok"}
    write_arrays(tmp_path / f"feat/{file}.h5", items)
    ((said, message),) = (one for one in found(tmp_path) if one[0] != "ok")
    assert said == level and f"{file}.h5" in message and named in message
