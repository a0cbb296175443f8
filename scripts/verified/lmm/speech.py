"""Transcribe files of video or sound: from a file and a range of seconds to segments with their times."""

import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from verified.config.generation import SpeechSettings
from verified.errors import InputError
from verified.io.sound import read_part, wave_bytes
from verified.lmm.client import Call, MediaError
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks.transcription import TRANSCRIPTION, Segment, segments

RATE = 16_000
"""Sampling rate of speech models, in samples a second."""


class Sound(NamedTuple):
    """A range of a file in seconds; `digest` (SHA-256) identifies the file without reading it again."""

    path: str | Path
    digest: str
    start: float
    end: float


class Transcript(NamedTuple):
    """Speech in a sound: segments in seconds of its file, ascending, and the ledger's keys of its calls.

    `reason` explains a missing answer for a part of it; None if all parts have one.
    """

    segments: list[Segment]
    lineage: list[str]
    reason: str | None = None


def transcribe(sounds: Sequence[Sound], session: Session) -> list[Transcript]:
    """The transcript of each sound, in their order; the tasks of `session` include `TRANSCRIPTION`.

    A sound is cut into pieces of at most `piece_seconds`, one call each; recorded pieces are neither decoded nor sent.
    Raises InputError when no more answers come, as `Session.ask` does.
    """
    piece = _settings(session).piece_seconds
    pieces = [pieces_of(sound, piece) for sound in sounds]
    calls = [_call(piece, session) for piece in itertools.chain(*pieces)]
    outcomes = iter(session.ask(TRANSCRIPTION, calls, len(calls)))
    return [_join([(piece, next(outcomes)) for piece in own]) for own in pieces]


def calls_of(sound: Sound, session: Session) -> list[Call]:
    """The calls that `transcribe` makes for a sound, for a quote of them."""
    return [_call(piece, session) for piece in pieces_of(sound, _settings(session).piece_seconds)]


def pieces_of(sound: Sound, seconds: float) -> list[Sound]:
    """A sound in equal pieces, as few as possible, none longer than `seconds`."""
    length = sound.end - sound.start
    count = max(1, math.ceil(length / seconds - 1e-9))
    edges = [round(sound.start + length * n / count, 3) for n in range(count)] + [sound.end]
    return [sound._replace(start=start, end=end) for start, end in itertools.pairwise(edges)]


def _settings(session: Session) -> SpeechSettings:
    """Settings of the role. Raises ValueError if no model has it: the caller checks this first."""
    if session.settings.speech is None:
        raise ValueError("generation.speech is not set")
    return session.settings.speech


def _call(sound: Sound, session: Session) -> Call:
    language = _settings(session).language or ""
    seconds = f"{sound.end - sound.start:.3f}"
    media = f"{sound.digest} {sound.start!r}-{sound.end!r} {RATE} Hz {language}".rstrip()

    def load() -> dict:
        try:
            return {"sound": wave_bytes(read_part(sound.path, sound.start, sound.end, RATE), RATE)}
        except InputError as error:
            raise MediaError(error.problem) from None

    return session.call(TRANSCRIPTION, {"language": language, "seconds": seconds}, media=(media,), load=load)


def _join(answers: Iterable[tuple[Sound, Outcome]]) -> Transcript:
    joined: list[Segment] = []
    lineage, reason = [], None
    for sound, outcome in answers:
        lineage.append(outcome.key)
        if outcome.status != "ok":
            reason = reason or f"{outcome.status}: {outcome.reason}"
            continue
        for start, end, text in segments(outcome.text):
            # Models guess times beyond the end of the sound.
            start, end = (min(sound.start + time, sound.end) for time in (start, end))
            joined.append(Segment(round(start, 3), round(end, 3), text))
    return Transcript(sorted(joined), lineage, reason)
