"""The collection algorithms on signals with a planted truth."""

import json

import numpy as np
import pytest

from verified.io.subtitles import read_subtitles, spoken
from verified_longform.alignment import align_tracks
from verified_longform.collection import described_sentences
from verified_longform.transcripts import Sentence, read_transcript, read_voices, sentences, voice_activity

RATE = 1000
SETTINGS = {"window_seconds": 10.0, "most_seconds": 30.0}


def _movie(seconds=300, seed=0):
    random = np.random.default_rng(seed)
    return np.convolve(random.normal(size=seconds * RATE), np.ones(5) / 5, "same").astype(np.float32)


def _late(movie, samples):
    """The movie `samples` later (earlier where negative), its length kept."""
    pad = np.zeros(abs(samples), np.float32)
    return np.concatenate([pad, movie[:-samples]]) if samples > 0 else np.concatenate([movie[-samples:], pad])


@pytest.mark.parametrize("samples", [1, 2345, 29_000, -1, -3210, -29_999])
def test_a_planted_delay_is_found_to_the_sample_through_narration_and_noise(samples):
    movie = _movie()
    random = np.random.default_rng(1)
    described = 3 + 0.5 * _late(movie, samples) + 0.1 * random.normal(size=len(movie)).astype(np.float32)
    for begin in range(20_000, len(movie), 40_000):  # a narrator, louder than the movie
        described[begin : begin + 8000] += random.normal(size=8000).astype(np.float32)
    aligned = align_tracks(movie, described, RATE, **SETTINGS)
    assert aligned.reason == "" and aligned.delay == samples / RATE
    assert len(aligned.delays) == 20


def test_an_inserted_scene_is_refused_with_the_window_that_disagrees():
    movie = _movie()
    cut = np.concatenate([movie[:200_000], _movie(2, seed=9), movie[200_000:]])
    aligned = align_tracks(movie, cut, RATE, **SETTINGS)
    assert aligned.delay is None and "windows disagree with the median delay of 0.000 s" in aligned.reason
    assert "finds 2.000 s" in aligned.reason


@pytest.mark.parametrize("seconds, refused", [(0.09, False), (0.11, True)])
def test_the_tolerance_is_a_tenth_of_a_second(seconds, refused):
    movie = _movie()
    drifted = np.concatenate([movie[:200_000], _movie(1, seed=9)[: round(seconds * RATE)], movie[200_000:]])
    assert align_tracks(movie, drifted, RATE, **SETTINGS).delay == (None if refused else 0), "the median"


def test_another_movies_track_silence_and_a_stub_are_refused():
    movie = _movie()
    assert "disagree" in align_tracks(movie, _movie(seed=5), RATE, **SETTINGS).reason
    assert "too short" in align_tracks(movie[:400], movie[:400], RATE).reason
    quiet = movie.copy()
    quiet[:40_000] = 0
    assert "silent" in align_tracks(quiet, movie, RATE, **SETTINGS).reason


def test_voices_are_speech_and_song_but_no_sound():
    said = [
        (3, 9, "hello"),
        (1, 3, "\u266a la \u266a"),
        (4, 5, "well"),
        (9, 11, "[waltz]"),
        (12, 13, "oh"),
        (15, 15, "oh"),
    ]
    assert voice_activity([spoken(*each) for each in said]) == [(1, 9), (12, 13)]


def _words(*texts, start=0.0):
    return [
        {"word": f" {text}", "start": start + number, "end": start + number + 0.5} for number, text in enumerate(texts)
    ]


PAUSE = ("They", 5.0, 5.5), ("all", 7.0, 8.0), ("part", 7.25, 7.5)  # a silence of just as long as a sentence bears
TOGETHER = [dict(zip(("word", "start", "end"), word)) for word in PAUSE]
PHRASES = _words("She", "waits.", "He"), _words("leaves", start=3.0), TOGETHER
WHISPER = {"segments": [{"words": words} for words in PHRASES]}
TICKS = [("she", 0, 5_000_000), ("waits", 10_000_000, 5_000_000)]
AZURE_WORDS = [dict(zip(("word", "offsetInTicks", "durationInTicks"), word)) for word in TICKS]
AZURE = {"recognizedPhrases": [{"nBest": [{"display": "She waits.", "words": AZURE_WORDS}]}, {"nBest": []}]}
DETAILED_WORDS = [dict(zip(("Word", "Offset", "Duration"), word)) for word in TICKS]
DETAILED = {"NBest": [{"Display": "She waits.", "Words": DETAILED_WORDS}]}


def _transcript(folder, value):
    path = folder / "transcript.json"
    path.write_text(json.dumps(value))
    return path


def test_whisper_and_azure_give_sentences(tmp_path):
    waits = Sentence("She waits.", 0.0, 1.5)
    assert sentences(read_transcript(_transcript(tmp_path, WHISPER))) == [
        waits,
        Sentence("He.", 2.0, 2.5),
        Sentence("Leaves.", 3.0, 3.5),
        Sentence("They all part.", 5.0, 8.0),
    ]
    assert sentences(read_transcript(_transcript(tmp_path, AZURE))) == [waits]
    assert sentences(read_transcript(_transcript(tmp_path, DETAILED))) == [waits]
    assert sentences(read_transcript(_transcript(tmp_path, [DETAILED]))) == [waits]


def test_sentences_that_overlap_a_voice_go_and_touching_ones_stay():
    stay = [("touches.", 2.0, 3.0), ("between.", 4.0, 5.0)]
    go = [("overlaps.", 2.5, 3.1), ("early.", -3.0, -1.0), ("after.", 11.0, 12.0)]
    spoken = sorted([*stay, *go, ("late.", 9.5, 12.0)], key=lambda one: one[1])
    shifted = [Sentence(text, start + 0.5, end + 0.5) for text, start, end in spoken]
    kept, counts = described_sentences(shifted, 0.5, [(3.0, 4.0), (5.0, 6.0)], 10.0)
    assert [(one.text, one.start, one.end) for one in kept] == [*stay, ("late.", 9.5, 10.0)]
    assert counts == {"spoken": 6, "dialogue": 1, "outside": 2, "kept": 3}


def test_characters_that_act_on_a_terminal_or_turn_text_are_left_out_of_what_is_said(tmp_path):
    said = "a \x1b[2J\u202ebig\u202c\x00 dog"
    (tmp_path / "a.srt").write_text(f"1\n00:00:01,000 --> 00:00:02,000\n{said}\n", encoding="utf-8")
    words = [{"word": said, "start": 0, "end": 1}]
    (tmp_path / "a.json").write_text(json.dumps({"segments": [{"start": 0, "end": 1, "text": said, "words": words}]}))
    for name in ("a.srt", "a.json"):
        assert [cue.text for cue in read_voices(tmp_path / name)] == ["a [2Jbig dog"]
        assert [word.text for word in read_transcript(tmp_path / name)] == ["a [2Jbig dog"]


@pytest.mark.parametrize(
    "text", [" " * 10**6 + "x", "[" * 10**5 + "(" * 10**5, "{\\" * 10**5, "A" + " " * 10**6, "<a" * 10**5]
)
def test_a_subtitle_of_whitespace_or_brackets_without_end_is_read_in_one_pass(tmp_path, text):
    (tmp_path / "a.srt").write_text(f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n{text}\n", encoding="utf-8")
    (cue,) = read_subtitles(tmp_path / "a.srt")
    assert cue.kind in ("speech", "sound")
