"""A submission scored on the command line, and described movies collected."""

import json

import numpy as np
import pytest
from query_rows import query_row
from refusals import refused

from verified.__main__ import main
from verified.cli.forms import read_ground_truth
from verified_longform.annotations import write_mad
from verified_longform.collection import collect_part
from verified_longform.config import Collection
from verified_longform.demo_movies import write_wave
from verified_longform.manifest import ALL, summarise_reports
from verified_longform.recall import IOUS, KS

RATE = 1000


def test_a_submission_is_scored(tmp_path, capsys):
    rows = [query_row(n, f"f{n % 2}", 10.0 * n, 10.0 * n + 4, "test", 600.0) for n in range(1, 7)]
    unusable = {**rows[0], "id": "x", "sentence": " "}
    truth = tmp_path / "truth.json"
    write_mad(truth, [*rows, unusable])
    lines = [{"id": str(number), "spans": [[0.0, 1.0], [10.0 * number, 10.0 * number + 4]]} for number in range(1, 7)]
    path = tmp_path / "submission.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["evaluate", str(truth), str(path), "--json"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["recall"][0] == [0, 0, 0] and score["recall"][1] == [100, 100, 100]
    compared, by_movie = read_ground_truth(truth), score["recall"]
    answers = compared.answers(path, None)
    assert answers.ranks.tolist() == [2] * 6 and [query.id for query in compared.queries()] == list("123456")
    for row, k in enumerate(KS):
        shares = [100 * answers.values[f"IoU={threshold:g}/R@{k}"].mean() for threshold in IOUS]
        assert shares == pytest.approx(by_movie[row])
    assert main(["evaluate", str(truth), str(path)]) == 0
    assert "100.00" in capsys.readouterr().out
    path.write_text(json.dumps(lines[0]) + "\n")
    assert main(["evaluate", str(truth), str(path)]) == 2
    assert "2, 3, 4, 5, 6" in capsys.readouterr().err
    assert main(["evaluate", str(truth), str(path), "--partial"]) == 0
    assert "missing: 5" in capsys.readouterr().out


def _described(folder, *movies):
    """A manifest of `movies`, (name, subtitles), a described track 1.234 s late, and a transcript as WebVTT."""
    movie = np.clip(0.2 * np.random.default_rng(0).normal(size=200 * RATE), -1, 1)
    write_wave(folder / "movie.wav", movie, RATE)
    write_wave(folder / "described.wav", np.concatenate([np.zeros(1234), movie]), RATE)
    (folder / "words.vtt").write_text("WEBVTT\n\n00:50.000 --> 00:51.000\nA door\n\n00:51.500 --> 00:53.000\nopens.\n")
    (folder / "latin.srt").write_bytes("1\n00:00:49,000 --> 00:00:50,000\nÀ table\n".encode("latin-1"))
    rows = [f"{name},movie.wav,described.wav,words.vtt,{subtitles},train\n" for name, subtitles in movies]
    (folder / "manifest.csv").write_text("movie,track,described,transcript,subtitles,split\n" + "".join(rows))
    return folder / "manifest.csv"


SETTINGS = Collection(rate=RATE, window_seconds=10, most_seconds=20)


def test_a_movie_that_cannot_be_read_is_left_out_with_the_reason(tmp_path):
    manifest = _described(tmp_path, ("a", ""), ("b", "latin.srt"), ("c", "missing.srt"), ("d", "long" * 100))
    found = collect_part(manifest, ALL, SETTINGS)
    (row,) = found["rows"]["train"]
    assert (row["movie"], row["sentence"], row["start"], row["end"]) == ("a", "A door opens.", 48.766, 51.766)
    assert found["reports"][0]["delay"] == 1.234
    summary = summarise_reports(found["reports"])
    assert (summary["movies"], summary["collected"], summary["without_subtitles"]) == (4, 1, 1)
    for movie, file in (("b", "latin.srt"), ("c", "missing.srt"), ("d", "longlong")):
        assert file in summary["left_out"][movie]
    manifest.write_text("movie,track\n")
    with refused("described, transcript, subtitles", file=manifest):
        collect_part(manifest, ALL, SETTINGS)
