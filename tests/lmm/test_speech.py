"""The role `speech`: sound in, segments with times out, through the same ledger, budget and quote as all calls."""

import io
import wave

import numpy as np
import pytest
from loopback import Scripted, endpoint, refusal, transcription
from media import counted
from refusals import refused
from sounds import SOUND_RATE, silence, tone, write_film

from verified.config.generation import Generation
from verified.io.sound import has_sound, read_part, read_track
from verified.lmm.ledger import Ledger
from verified.lmm.session import Session
from verified.lmm.speech import Sound, pieces_of, transcribe
from verified.lmm.tasks.transcription import TRANSCRIPTION, Segment


@pytest.fixture
def film(tmp_path):
    """Two seconds of silence, two of a tone, and pictures of five seconds."""
    return write_film(tmp_path / "film.mkv", counted(40), np.concatenate([silence(2.0), tone(2.0)]))


def settings(tmp_path, url, **changes):
    speech = {"base_url": url, "model": "loud-1", "retries": 1, "price_minute": 0.6, **changes}
    return Generation.model_validate({"ledger": str(tmp_path / "ledger"), "speech": speech})


def heard(tmp_path, url, sounds, **changes):
    with Session(settings(tmp_path, url, **changes), 0, (TRANSCRIPTION,)) as session:
        return transcribe(sounds, session), session.outcome_counts()[TRANSCRIPTION.name]


def samples_of(body):
    with wave.open(io.BytesIO(body["file"])) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, SOUND_RATE)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32767


@pytest.mark.parametrize("zero", ["0", "3"])
def test_a_part_of_a_track_is_placed_by_its_times(tmp_path, zero):
    film = write_film(tmp_path / "film.mkv", counted(40), np.concatenate([silence(2.0), tone(2.0)]), zero=zero)
    assert has_sound(film) and len(read_track(film, SOUND_RATE)) == 4 * SOUND_RATE
    part = read_part(film, 1.5, 4.5, SOUND_RATE)
    assert len(part) == 3 * SOUND_RATE
    loud = np.abs(part).reshape(-1, SOUND_RATE // 10).max(axis=1) > 0.1  # tenths of a second
    assert loud.tolist() == [False] * 5 + [True] * 20 + [False] * 5
    whole = read_part(film, 0.0, 5.0, SOUND_RATE)
    assert len(read_part(film, 1.6, 1.9, SOUND_RATE)) == 0.3 * SOUND_RATE
    assert np.array_equal(part, whole[round(1.5 * SOUND_RATE) : round(4.5 * SOUND_RATE)])


def test_pieces_are_asked_once_and_joined_in_the_times_of_the_file(film, tmp_path):
    def answer(number, body):
        return transcription([(1.0, 99.0, "loudly"), (0.25, 1.0, " a bird  sings "), (2.0, 2.0, "  ")])

    sound = Sound(film, "d1", 1.0, 5.0)
    for most in (3.0, 2.0):
        assert [(one.start, one.end) for one in pieces_of(sound, most)] == [(1.0, 3.0), (3.0, 5.0)]
    with endpoint(answer) as served:
        (transcript,), counts = heard(tmp_path, served.url, [sound], language="en")
        assert transcript.segments == [Segment(1.25, 2.0, "a bird sings"), Segment(2.0, 5.0, "loudly")]
        assert transcript.reason is None and counts["calls"] == 1
        (body,) = served.bodies
        assert body["model"] == "loud-1" and body["language"] == "en" and body["response_format"] == "verbose_json"
        loud = np.abs(samples_of(body)).reshape(-1, SOUND_RATE).max(axis=1) > 0.1
        assert loud.tolist() == [False, True, True, False]
        again, _ = heard(tmp_path, served.url, [sound], language="en")
        assert again == [transcript] and len(served.bodies) == 1
        heard(tmp_path, served.url, [sound], language="fr")
        assert len(served.bodies) == 2
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.totals()["cost"] == pytest.approx(2 * 4 / 60 * 0.6)


def spent(folder) -> float:
    with Ledger(folder / "ledger") as ledger:
        return ledger.totals()["cost"]


def test_failures_are_named_and_cost_nothing(film, tmp_path):
    silent = write_film(tmp_path / "silent.mkv", counted(8), None)
    replies = [transcription([(0, 1, "yes")]), refusal(400, message="no such format")]
    with endpoint(lambda number, body: replies[number - 1]) as served:
        _, _ = heard(tmp_path, served.url, [Sound(film, "d1", 1.0, 2.0)])
        before = spent(tmp_path)
        sounds = [Sound(silent, "d2", 0.0, 1.0), Sound(film, "d1", 0.0, 1.0), Sound(film, "d1", 1.0, 2.0)]
        (no_track, refused_call, _), counts = heard(tmp_path, served.url, sounds)
    assert "media" in no_track.reason and "status-400" in refused_call.reason
    assert counts["outcomes"]["error"] == 2 and len(served.bodies) == 2 and spent(tmp_path) == before
    with endpoint(lambda number, body: replies[1]) as served, refused("generation.speech"):
        heard(tmp_path, served.url, [Sound(film, "d1", 0.0, 1.0)])
    unreadable = Scripted(200, b'{"segments": [{"start": "soon"}]}')
    with endpoint(lambda number, body: unreadable) as served, refused("generation.incomplete"):
        heard(tmp_path, served.url, [Sound(film, "d1", 0.0, 3.0)])
    with refused("generation.speech"):
        Session(Generation(), 0, (TRANSCRIPTION,))


def test_the_budget_holds_before_the_call(film, tmp_path):
    with endpoint(lambda number, body: transcription([(0, 1, "yes")])) as served:
        generation = settings(tmp_path, served.url).model_dump()
        generation["budget"] = {"money": 0.05}
        with Session(Generation.model_validate(generation), 0, (TRANSCRIPTION,)) as session:
            transcribe([Sound(film, "d1", 0.0, 4.0)], session)  # 0.04
            with refused("budget"):
                transcribe([Sound(film, "d1", 0.0, 3.0)], session)
        assert len(served.bodies) == 1
