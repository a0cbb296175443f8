"""Review: pages on which people review captions, and the server that hands their moments out."""

import argparse
from pathlib import Path

from verified.cli.command import SNAKEMAKE, between, command, folder, option, output, several
from verified.cli.people import build_pages
from verified.cli.serving import HOST_AND_PORT, run_server
from verified.errors import InputError


@command("review", "write pages on which people review captions, and say where they are", *SNAKEMAKE)
def review(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set that is annotated here and print which there are."""
    return build_pages(arguments, "review", review_pages)


def review_pages(folder: Path) -> str:
    """The pages of a review, and instructions for them."""
    return "\n".join(
        [
            "Give these pages to reviewers; they work from a file and need no network:",
            *(f"  {page}" for page in sorted((folder / "pages").glob("*.html"))),
            "Then: name the files of decisions in annotations.review, and run again",
        ]
    )


@command(
    "review-serve",
    "hand out the moments of review pages to several people, and keep what they decide",
    folder("pages", "the folder of the pages that `verified review` built", metavar="PAGES"),
    several("--people", metavar="NAME", help="who reviews; each gets a link. Those of an earlier start keep theirs"),
    option("--raters", type=between(0, 100, int), default=1, help="people who see each moment (default: 1)"),
    option(
        "--batch", type=between(0, 500, int), default=10, help="moments that one person has at a time (default: 10)"
    ),
    option(
        "--lease",
        type=between(0, 10_000),
        default=30.0,
        metavar="MINUTES",
        help="minutes without a sign of life after which moments are handed to others (default: 30)",
    ),
    *HOST_AND_PORT,
    output("where decisions.jsonl goes (default: the folder `served` beside the pages)", metavar="FOLDER"),
)
def review_serve(arguments: argparse.Namespace) -> None:
    """Serve until interrupted; raises InputError without pages and for an address in use."""
    from verified.runtime.seals import PEOPLE
    from verified_lab.review.handout import Handout
    from verified_lab.review.serve import BuiltPages, application, progress_lines

    pages = BuiltPages(arguments.pages)
    place = arguments.output or arguments.pages.resolve().parent / PEOPLE
    options = arguments.raters, arguments.batch, 60 * arguments.lease
    handout = Handout(place, pages.review["dataset"], pages.items, arguments.people, *options)
    if arguments.raters > len(handout.tokens):
        raise InputError(f"--raters {arguments.raters}, and {len(handout.tokens)} people", remedy="name more --people")

    def told(address: str) -> str:
        links = [f"  {name}: {address}{token}/" for name, token in handout.tokens.items()]
        return "\n".join(
            [
                *progress_lines(handout.progress()),
                "Give each of them their link; with progress at its end it shows how far all are (Ctrl-C ends it):",
                *links,
                f"Then: name {place / 'decisions.jsonl'} in annotations.review, and run again",
            ]
        )

    try:
        run_server(application(pages, handout, arguments.host), arguments, told)
    finally:
        handout.close()
