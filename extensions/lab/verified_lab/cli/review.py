"""Review: pages on which people review captions."""

import argparse
from pathlib import Path

from verified.cli.command import SNAKEMAKE, command
from verified.cli.people import build_pages


@command(
    "review",
    "write pages on which people review captions, and say where they are",
    *SNAKEMAKE,
    example="verified review --configfile config/config.yaml",
    page="docs/data-set.md",
)
def review(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set that is annotated here and print which there are."""
    return build_pages(arguments, "review", review_pages)


def review_pages(folder: Path) -> str:
    """The pages of a review, and instructions for them."""
    return "\n".join(
        [
            "Give these pages to reviewers; they work from a file and need no network:",
            *(f"  {page}" for page in sorted((folder / "pages").glob("*.html"))),
            "Then: name the files of decisions in review.decisions, and run again",
        ]
    )
