"""Transcripts of videos, from subtitle files or by the role `speech`: one row a video."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from verified.config.sources import SourceSection
from verified.corpus.shards import paths_of_shard
from verified.errors import InputError
from verified.io.sound import has_sound
from verified.io.subtitles import read_subtitles
from verified.lmm.session import Session
from verified.lmm.speech import Sound, transcribe

log = logging.getLogger("verified")

ENDINGS = (".srt", ".vtt")
UNREADABLE = "unreadable-subtitles"


def transcripts(videos: Sequence[dict], session: Session | None) -> list[dict[str, Any]]:
    """A row for each row of videos.jsonl: video, source, segments [start, end, text] in seconds, lineage, and a reason
    without a transcript (`segments` is then None).

    Subtitle files next to a video take precedence; unreadable ones are the reason. `session` transcribes the others,
    unless it is None. Raises InputError when no more answers come.
    """
    rows: dict[str, dict[str, Any]] = {}
    untranscribed = []
    for video in videos:
        row: dict[str, Any] = {"video": video["video"], "source": None, "segments": None, "lineage": [], "reason": None}
        rows[video["video"]] = row
        if file := subtitles_of(video["path"]):
            try:
                cues = sorted(read_subtitles(file), key=lambda cue: cue.start)
            except InputError as error:
                log.warning("left out: %s", error)
                row["reason"] = UNREADABLE
                continue
            spoken = [[cue.start, cue.end, cue.text] for cue in cues if cue.kind != "sound"]
            row |= {"source": "subtitles", "segments": spoken}
        elif not has_sound(video["path"]):
            row |= {"segments": [], "reason": "no-sound"}
        elif session is None:
            row["reason"] = "no-subtitles"
        else:
            untranscribed.append(video)
    if untranscribed and session:
        for video, transcript in zip(untranscribed, transcribe(sounds_of(untranscribed), session)):
            row = rows[video["video"]]
            row |= {"source": "speech", "lineage": transcript.lineage, "reason": transcript.reason}
            row["segments"] = None if transcript.reason else [list(segment) for segment in transcript.segments]
    return list(rows.values())


def sounds_of(videos: Iterable[dict]) -> list[Sound]:
    """The whole sound track of each row of videos.jsonl."""
    return [Sound(row["path"], row["sha256"], 0.0, row["duration"]) for row in videos]


def needs_asking(video: dict) -> bool:
    """Whether the role `speech` has to transcribe a video."""
    return subtitles_of(video["path"]) is None and has_sound(video["path"])


def unreadable_subtitles(paths: Iterable[str | Path]) -> list[InputError]:
    """Reasons for unreadable subtitle files, by file."""
    errors: list[InputError] = []
    for file in filter(None, map(subtitles_of, paths)):
        try:
            read_subtitles(file)
        except InputError as error:
            errors.append(error)
    return errors


def subtitles_of_shard(source: SourceSection, shard: str, shards: int) -> list[str]:
    """Paths of the subtitle files next to the videos of a shard."""
    return [str(file) for file in map(subtitles_of, paths_of_shard(source, shard, shards)) if file]


def subtitles_of(path: str | Path) -> Path | None:
    """The subtitle file next to a video, by its name."""
    return next((file for ending in ENDINGS if (file := Path(path).with_suffix(ending)).is_file()), None)
