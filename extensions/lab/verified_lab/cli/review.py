"""Review: pages on which people review captions, and the server that hands their moments out."""

import argparse
from pathlib import Path

from verified.cli.command import SNAKEMAKE, between, command, flag, folder, only_for, option, output, several
from verified.cli.people import build_pages
from verified.cli.serving import HOST_AND_PORT, run_server
from verified.errors import InputError

SERVING = ("pages", "people", "raters", "batch", "lease", "output")
"""Options of a review that is served."""


@command(
    "review",
    "write pages on which people review captions, and say where they are; or serve them to several people",
    flag("--serve", "hand out the moments of pages that are built to several people, and keep what they decide"),
    folder("--pages", "the folder of the pages (default: of the configuration's first data set)", metavar="PAGES"),
    several("--people", metavar="NAME", help="who reviews; each gets a link. Those of an earlier start keep theirs"),
    option("--raters", type=between(0, 100, int), help="people who see each moment (default: 1)"),
    option("--batch", type=between(0, 500, int), help="moments that one person has at a time (default: 10)"),
    option(
        "--lease",
        type=between(0, 10_000),
        metavar="MINUTES",
        help="minutes without a sign of life after which moments are handed to others (default: 30)",
    ),
    *HOST_AND_PORT,
    output("where decisions.jsonl goes (default: the folder `served` next to the pages)", metavar="FOLDER"),
    *SNAKEMAKE,
)
def review(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set that is annotated here and print which there are, or serve those of one."""
    if arguments.serve:
        _serve(arguments)
        return 0
    only_for(arguments, "pages that are not served", SERVING)
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


def _pages_of(arguments: argparse.Namespace) -> Path:
    if arguments.pages:
        return arguments.pages
    from verified.config import read
    from verified.config.folders import dataset_folder, datasets_with

    settings = read(*arguments.configfile)
    if not (annotated := datasets_with(settings, "annotated_here")):
        raise InputError("no data set of this configuration is reviewed", remedy="name the folder of --pages")
    return Path(dataset_folder(settings, annotated[0]), "review", "pages")


def _serve(arguments: argparse.Namespace) -> None:
    """Serve until interrupted; raises InputError without pages and for an address in use."""
    from verified.runtime.seals import PEOPLE
    from verified_lab.review.handout import Handout
    from verified_lab.review.serve import BuiltPages, application, progress_lines

    folder = _pages_of(arguments)
    raters, batch, lease = arguments.raters or 1, arguments.batch or 10, arguments.lease or 30.0
    pages = BuiltPages(folder)
    place = arguments.output or folder.resolve().parent / PEOPLE
    handout = Handout(place, pages.review["dataset"], pages.items, arguments.people, raters, batch, 60 * lease)
    if raters > len(handout.tokens):
        raise InputError(f"--raters {raters}, and {len(handout.tokens)} people", remedy="name more --people")

    def greeting(address: str) -> str:
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
        run_server(application(pages, handout, arguments.host), arguments, greeting)
    finally:
        handout.close()
