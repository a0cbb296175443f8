"""`verified transcribe`: subtitles of videos, by a speech model that runs here."""

import argparse
from pathlib import Path

from verified.cli.command import command, option


@command(
    "transcribe",
    "write subtitles next to videos that have none, with a local Whisper model",
    option("videos", nargs="+", type=Path, metavar="VIDEO", help="videos, or folders of videos"),
    option("--model", default="", help="folder of a Whisper model for faster-whisper (default: the packaged tiny.en)"),
    option("--language", help="spoken language, as ISO 639 code (default: the model finds out, or its only one)"),
    example="verified transcribe holiday/    # your videos",
    page="extensions/lab/README.md",
)
def transcribe(arguments: argparse.Namespace) -> None:
    """Write VIDEO.srt for each video with sound, and print the outcome of each."""
    from verified_lab.transcribe import load_model, transcribe_videos, videos_among

    written, videos, model = 0, videos_among(arguments.videos), load_model(arguments.model)
    for video, outcome in transcribe_videos(videos, model, arguments.language):
        print(f"{video}: {outcome}", flush=True)
        written += outcome.startswith("wrote")
    print(f"{written} files of subtitles written")
