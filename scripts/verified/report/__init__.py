"""Report of a run in one file: tables, figures, the summary, and the browser of captions."""

from pathlib import Path

CAPTIONS_PAGE, FRONT_PAGE = (Path(__file__).resolve().parent / "pages" / name for name in ("captions", "front"))
"""Body, style and script of the browser of captions, and the style of the front page, without their endings (see
`io.pages`)."""
