"""Movies without transcript or subtitles: files beside their tracks, and the role speech."""

import numpy as np
import pytest
from loopback import endpoint, refusal, transcription
from refusals import refused

from verified.config import load
from verified.planning.quote import quote
from verified_longform.collection import collect_part
from verified_longform.config import Collection
from verified_longform.demo_movies import write_wave
from verified_longform.listening import listening
from verified_longform.manifest import ALL, summarise_reports

RATE, SECONDS = 1000, 60
SETTINGS = Collection(rate=RATE, window_seconds=5.0, most_seconds=10.0)
DESCRIPTION = [(5.0, 8.0, " A dog runs across the yard "), (20.0, 22.0, "someone talks here")]
DIALOGUE = [(19.0, 21.0, "Where is the dog?"), (40.0, 41.0, "[music]")]


@pytest.fixture
def folder(tmp_path):
    """A movie, its described track two seconds late, and a manifest that names neither transcript nor subtitles."""
    movie = np.random.default_rng(0).normal(size=SECONDS * RATE).astype(np.float32) / 8
    write_wave(tmp_path / "movie.wav", movie, RATE)
    write_wave(tmp_path / "described.wav", np.concatenate([np.zeros(2 * RATE, np.float32), movie[: -2 * RATE]]), RATE)
    (tmp_path / "m.csv").write_text("movie,track,described,transcript,subtitles\nfilm,movie.wav,described.wav,,\n")
    return tmp_path


def _settings(folder, url):
    movies = {"title": "M", "source": {"kind": "described", "manifest": str(folder / "m.csv"), "videos": str(folder)}}
    speech = {"base_url": url, "model": "loud-1", "retries": 1, "piece_seconds": 60, "price_minute": 0.5}
    generation = {"ledger": str(folder / "ledger"), "speech": speech}
    return load({"name": "own", "longform": {"datasets": {"m": movies}}, "generation": generation})


def test_the_role_writes_both_tracks_down_once_and_a_quote_counts_it(folder):
    def answer(number, body):
        return transcription(DIALOGUE if any(body["file"][44:2000]) else DESCRIPTION)  # the late track begins silent

    with endpoint(answer) as served:
        settings = _settings(folder, served.url)
        (row,) = quote(settings)
        assert (row["dataset"], row["calls"], row["known"]) == ("longform", 2, 0) and row["money"] == pytest.approx(1.0)
        for _ in range(2):
            with listening(settings.generation, settings.seed) as listen:
                found = collect_part(folder / "m.csv", ALL, SETTINGS, listen)
        rows, reports = found["rows"], found["reports"]
        assert len(served.bodies) == 2, "each track once"
        assert [row["sentence"] for row in rows["train"]] == ["A dog runs across the yard."]
        assert reports[0]["transcribed"] == ["subtitles", "transcript"] and reports[0]["dialogue"] == 1
        summary = summarise_reports(reports)
        assert summary["transcribed"] == 1 and summary["without_subtitles"] == 0
        assert summary["spoken"] == summary["dialogue"] + summary["outside"] + summary["kept"] == 2
        (row,) = quote(settings)
        assert (row["calls"], row["known"]) == (0, 2)


def test_a_part_without_an_answer_stops_the_job_instead_of_leaving_the_movie_out(folder):
    refusing = endpoint(lambda number, body: refusal(400, message="no such format"))
    with refusing as served:
        generation = _settings(folder, served.url).generation
        with listening(generation, 0) as listen, refused("status-400", remedy=True):
            collect_part(folder / "m.csv", ALL, SETTINGS, listen)
