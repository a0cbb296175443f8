"""The page of a review on the sheet of pages, of the clips of `make real`; see tests/pictures.py."""

from pathlib import Path

from verified.__main__ import main


def pages(results: Path) -> list[Path]:
    main(["review", "--configfile", "config/real.yaml"])
    return [results / "real" / "review" / "pages" / "page-001.html"]
