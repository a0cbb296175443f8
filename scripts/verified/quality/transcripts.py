"""What is said in videos, from subtitles beside them or by the role `speech`: one row a video."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from verified.io.sound import has_sound
from verified.io.subtitles import read_subtitles
from verified.lmm.session import Session
from verified.lmm.speech import Sound, transcribe

ENDINGS = (".srt", ".vtt")


def transcripts(videos: Sequence[dict], session: Session | None) -> list[dict[str, Any]]:
    """A row for each row of videos.jsonl: video, source, segments [start, end, text] in seconds, lineage, and a reason
    where nothing is known (`segments` is then None).

    Subtitles beside a video come first; `session` answers for the others, nobody where it is None. Raises InputError
    for subtitles that cannot be read, and when no more answers come.
    """
    rows: dict[str, dict[str, Any]] = {}
    asked = []
    for video in videos:
        row: dict[str, Any] = {"video": video["video"], "source": None, "segments": None, "lineage": [], "reason": None}
        rows[video["video"]] = row
        if file := subtitles_of(video["path"]):
            cues = sorted(read_subtitles(file), key=lambda cue: cue.start)
            spoken = [[cue.start, cue.end, cue.text] for cue in cues if cue.kind != "sound"]
            row |= {"source": "subtitles", "segments": spoken}
        elif not has_sound(video["path"]):
            row |= {"segments": [], "reason": "no-sound"}
        elif session is None:
            row["reason"] = "no-subtitles"
        else:
            asked.append(video)
    if asked and session:
        for video, transcript in zip(asked, transcribe(sounds_of(asked), session)):
            row = rows[video["video"]]
            row |= {"source": "speech", "lineage": transcript.lineage, "reason": transcript.reason}
            row["segments"] = None if transcript.reason else [list(segment) for segment in transcript.segments]
    return list(rows.values())


def sounds_of(videos: Iterable[dict]) -> list[Sound]:
    """The whole sound track of each row of videos.jsonl."""
    return [Sound(row["path"], row["sha256"], 0.0, row["duration"]) for row in videos]


def needs_asking(video: dict) -> bool:
    """Whether the role `speech` has to say what is said in a video."""
    return subtitles_of(video["path"]) is None and has_sound(video["path"])


def subtitles_of(path: str | Path) -> Path | None:
    """The subtitles beside a video, by its name."""
    return next((file for ending in ENDINGS if (file := Path(path).with_suffix(ending)).is_file()), None)
