"""The command line of the stage, as a user calls it."""

import json

import numpy as np
import pytest
from refusals import said

from verified.__main__ import main
from verified.io.sound import write_wave
from verified_longform import collection
from verified_longform.annotations import check_rows, read_mad, write_mad
from verified_longform.form import recalls
from verified_longform.grid import Grid
from verified_longform.ranking import baselines, cut_movies

RATE = 1000


@pytest.fixture
def truth(tmp_path):
    rows = [
        {
            "id": str(number),
            "movie": f"f{number % 2}",
            "sentence": "A door opens.",
            "duration": 600.0,
            "split": "test",
            "start": 10.0 * number,
            "end": 10.0 * number + 4,
        }
        for number in range(1, 7)
    ]
    write_mad(tmp_path / "truth.json", rows)
    return tmp_path / "truth.json"


def test_a_submission_is_scored(truth, tmp_path, capsys):
    lines = [{"id": str(number), "spans": [[0.0, 1.0], [10.0 * number, 10.0 * number + 4]]} for number in range(1, 7)]
    path = tmp_path / "submission.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["evaluate", str(truth), str(path), "--json"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["recall"][0] == [0, 0, 0] and score["recall"][1] == [100, 100, 100]
    assert main(["evaluate", str(truth), str(path)]) == 0
    assert "100.00" in capsys.readouterr().out
    path.write_text(json.dumps(lines[0]) + "\n")
    assert main(["evaluate", str(truth), str(path)]) == 2
    assert "2, 3, 4, 5, 6" in capsys.readouterr().err
    assert main(["evaluate", str(truth), str(path), "--partial"]) == 0
    assert "missing: 5" in capsys.readouterr().out


def test_chance_is_that_of_the_given_grid(truth, capsys):
    own = ["--fps", "2", "--window", "64", "--clips", "32", "--tail", "cover"]
    assert main(["longform", "chance", str(truth), *own]) == 0
    rows, _, _ = check_rows(read_mad(truth, "test"))
    chance = baselines(cut_movies(rows, None), Grid(2.0, 64, 32, tail="cover"), "gt", 100, 0)["chance"]
    assert recalls(chance) in capsys.readouterr().out
    assert main(["longform", "chance", str(truth), "--clips", "63"]) == 2
    said(capsys.readouterr().err, "128", "63")


def _described(folder, *movies):
    """A manifest of `movies`, (name, subtitles), a described track 1.234 s late, and a transcript as WebVTT."""
    movie = np.clip(0.2 * np.random.default_rng(0).normal(size=200 * RATE), -1, 1)
    write_wave(folder / "movie.wav", movie, RATE)
    write_wave(folder / "described.wav", np.concatenate([np.zeros(1234), movie]), RATE)
    (folder / "words.vtt").write_text("WEBVTT\n\n00:50.000 --> 00:51.000\nA door\n\n00:51.500 --> 00:53.000\nopens.\n")
    (folder / "latin.srt").write_bytes("1\n00:00:49,000 --> 00:00:50,000\nÀ table\n".encode("latin-1"))
    rows = [f"{name},movie.wav,described.wav,words.vtt,{subtitles},train\n" for name, subtitles in movies]
    (folder / "manifest.csv").write_text("movie,track,described,transcript,subtitles,split\n" + "".join(rows))
    return str(folder / "manifest.csv")


def test_described_movies_become_annotations(tmp_path, capsys):
    manifest = _described(tmp_path, ("f", ""))
    options = ["--rate", str(RATE), "--window", "10", "--most", "20"]
    assert main(["longform", "align", str(tmp_path / "movie.wav"), str(tmp_path / "described.wav"), *options]) == 0
    assert "+1.2340 s late" in capsys.readouterr().out
    assert main(["longform", "collect", manifest, "--output", str(tmp_path / "out"), *options]) == 0
    (row,) = json.loads((tmp_path / "out" / "train.json").read_text()).values()
    assert row["sentence"] == "A door opens." and row["timestamps"] == [48.766, 51.766]
    (tmp_path / "manifest.csv").write_text("movie,track\n")
    assert main(["longform", "collect", manifest, "--output", str(tmp_path / "out")]) == 2
    said(capsys.readouterr().err, manifest, "described, transcript, subtitles")


def test_a_movie_that_cannot_be_read_is_left_out_with_the_reason_and_the_others_are_collected_once(
    tmp_path, capsys, monkeypatch
):
    manifest = _described(tmp_path, ("a", ""), ("b", "latin.srt"), ("c", "missing.srt"), ("d", "long" * 100))
    command = ["longform", "collect", manifest, "--output", str(tmp_path / "out"), "--rate", str(RATE)]
    command += ["--window", "10", "--most", "20"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "1 of 4 movies" in out and "longlong" in out and "1 of them without subtitles" in out
    assert "latin.srt" in out and "missing.srt" in out
    (row,) = json.loads((tmp_path / "out" / "train.json").read_text()).values()
    assert (row["movie"], row["sentence"], row["timestamps"]) == ("a", "A door opens.", [48.766, 51.766])
    # Mended and run again: only the movie whose file changed is collected.
    (tmp_path / "latin.srt").write_text("1\n00:00:49,000 --> 00:00:50,000\nÀ table\n", encoding="utf-8")
    collected, collect_movie = [], collection.collect_movie
    monkeypatch.setattr(
        collection,
        "collect_movie",
        lambda movie, *rest, **more: collected.append(movie) or collect_movie(movie, *rest, **more),
    )
    assert main(command) == 0
    assert collected == ["b"] and "2 of 4 movies" in capsys.readouterr().out
    assert [row["movie"] for row in json.loads((tmp_path / "out" / "train.json").read_text()).values()] == ["a"]
