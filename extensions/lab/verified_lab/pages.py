"""Parts of the pages of the lab, in addition to those of all pages for people (`verified.people.pages`)."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "pages"
REVIEW = (FOLDER / "review",)
