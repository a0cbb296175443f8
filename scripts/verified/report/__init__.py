"""What a run shows of itself in one file: tables, figures, the summary, and the browsers of captions and questions."""

from pathlib import Path

CAPTIONS_PAGE, QUESTIONS_PAGE, FRONT_PAGE = (
    Path(__file__).resolve().parent / "pages" / name for name in ("captions", "questions", "front")
)
"""Body, style and script of the browsers of captions and of questions across time, and the style of the front page,
without their endings (see `io.pages`)."""
