"""What a run shows of itself in one file: tables, figures, the summary, and the caption browser."""

from pathlib import Path

CAPTIONS_PAGE = Path(__file__).resolve().parent / "pages" / "captions"
"""The caption browser's body, style and script, without their endings (see `io.pages`)."""
