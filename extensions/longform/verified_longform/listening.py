"""Tracks without a transcript, written down by the role `speech`: in the jobs of a collection, and in a quote."""

import hashlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import av

from verified.config import Config
from verified.config.generation import Generation
from verified.errors import InputError
from verified.io.sound import open_sound
from verified.lmm.session import Session
from verified.lmm.speech import Sound, calls_of, transcribe
from verified.lmm.tasks.transcription import TRANSCRIPTION
from verified_longform.collection import Listener
from verified_longform.config import DescribedSource, Longform
from verified_longform.manifest import OPTIONAL, read_manifest


@contextmanager
def listening(generation: Generation, seed: int) -> Generator[Listener]:
    """A listener that asks the configured endpoint, through the ledger."""
    with Session(generation, seed, (TRANSCRIPTION,)) as session:

        def listen(path: Path) -> list[tuple[float, float, str]]:
            (transcript,) = transcribe([_sound(path)], session)
            if transcript.reason:
                raise InputError(
                    f"its transcript has a part without an answer: {transcript.reason}",
                    file=path,
                    remedy="run again, which asks for this part alone, or name a transcript in the manifest",
                )
            return [(start, end, text) for start, end, text in transcript.segments]

        yield listen


def _sound(path: Path) -> Sound:
    seconds = track_seconds(path)
    with path.open("rb") as file:
        return Sound(path, hashlib.file_digest(file, "sha256").hexdigest(), 0.0, round(seconds, 3))


def track_seconds(path: Path) -> float:
    """Length of the first sound stream, from the file's header. Raises InputError without a stream or a stated
    length."""
    with open_sound(path) as (container, stream):
        if stream.duration is not None and stream.time_base is not None:
            return float(stream.duration * stream.time_base)
        if container.duration is not None:
            return container.duration / av.time_base
    raise InputError("does not say how long it is", file=path)


def walk_of(settings: Config) -> Callable[[Session], None]:
    """Every track that a run would transcribe; an unreadable track makes no call."""

    def walk(session: Session) -> None:
        for movies in settings.section(Longform).datasets.values():
            source = movies.source
            for row in read_manifest(source.manifest) if isinstance(source, DescribedSource) else ():
                for column, sound in OPTIONAL.items():
                    if row[column] is None:
                        with suppress(InputError):
                            calls = calls_of(_sound(row[sound]), session)
                            session.ask(TRANSCRIPTION, calls, len(calls))

    return walk
