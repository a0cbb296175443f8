"""People: pages for grading, reviewing and answering, and the answers."""

import argparse
from collections.abc import Callable
from pathlib import Path

from verified.cli.command import SNAKEMAKE, between, command, folder, only_for, option, output, run_workflow, several


@command(
    "study",
    "write a page for each participant of a user study; with --collect, check and aggregate their answers",
    several("--collect", metavar="FILE", help="files that participants sent back"),
    folder("--key", "with --collect: the key of the pages (default: results/demo/study/key.json)", metavar="KEY.JSON"),
    output("with --collect: where the results go (default: the folder of the key)", metavar="FOLDER"),
    option(
        "--raters",
        type=between(0, 1000, int),
        metavar="NUMBER",
        help="with --collect: count captions with the grades of so many people (default: as many as it asks)",
    ),
    *SNAKEMAKE,
    example="verified study --configfile config/config.yaml",
    page="docs/pages.md",
)
def study(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set with videos and print which there are; or collect answers.

    Raises InputError for answers that are not genuine, by file and item.
    """
    if arguments.collect:
        arguments.key = arguments.key or Path("results/demo/study/key.json")
        _collect(arguments)
        return 0
    only_for(arguments, "pages that are written", ("key", "output", "raters"))
    return build_pages(arguments, "study", study_pages)


def build_pages(arguments: argparse.Namespace, kind: str, next_step: Callable[[Path], str]) -> int:
    from verified.config import read
    from verified.config.folders import dataset_folder, datasets_with

    settings = read(*arguments.configfile)
    if status := run_workflow(arguments, "--", kind):
        return status
    for name in datasets_with(settings, "annotated_here"):
        print(next_step(Path(dataset_folder(settings, name), kind)))
    return 0


def study_pages(folder: Path) -> str:
    """The pages of a study, and instructions for them."""
    from verified.io.jsonl import read_json

    key, pages = read_json(folder / "key.json"), sorted((folder / "pages").glob("participant-*.html"))
    return "\n".join(
        [
            f"{key['title']}: {len(key['questions'])} captions, {key['raters']} grades each, for {len(pages)} people.",
            "Give each of them one page, which works from a file and needs no network:",
            *(f"  {page}" for page in pages),
            f"Then: verified study --collect FILES... --key {folder / 'key.json'}",
        ]
    )


def _collect(arguments: argparse.Namespace) -> None:
    """Write summary.json and answers.jsonl and print the measures."""
    from verified.io.jsonl import write_json, write_jsonl
    from verified.people.answers import collect, read_key
    from verified.people.study.aggregate import summarise
    from verified.people.study.sample import FORM
    from verified.runtime.checksums import write_built_checksums

    key = read_key(arguments.key, FORM)
    target = arguments.output or arguments.key.parent
    collected = collect(arguments.collect, key, FORM)
    for participant, numbers in collected.open.items():
        expected = len(key["participants"][participant - 1])
        came = f"{expected - len(numbers)} of {expected}" if participant in collected.unfinished else "no"
        print(f"{came} answers of participant {participant}; open questions: {', '.join(map(str, numbers))}")
    summary = summarise(collected.answers, key, arguments.raters)
    summary["unfinished"] = collected.unfinished
    write_jsonl(target / "answers.jsonl", collected.answers)
    write_json(target / "summary.json", summary)
    for name in ("answers.jsonl", "summary.json"):
        write_built_checksums(target / name)
    print("\n".join(_summary_lines(summary)))


def _summary_lines(summary: dict) -> list[str]:
    """The summary for a terminal."""
    came = summary["participants"] - len(summary["missing"])
    out = [f"{summary['title']}: {summary['answers']} answers of {came} of {summary['participants']} participants"]
    if summary["unfinished"]:
        out.append(f"  {len(summary['unfinished'])} of them have not answered all of their questions")
    if summary["left_out"]:
        few = len(summary["left_out"])
        total = few + summary["measures"]["S_total"]["captions"]
        raters = summary["raters"]
        remedy = f" (--raters {raters - 1} takes one less)" if raters > 1 else ""
        out.append(f"  {few} of {total} captions are left out: fewer than {raters} people graded them{remedy}")
    for name, measure in summary["measures"].items():
        result = "no captions of this type" if measure["value"] is None else _interval(measure["value"], measure)
        out.append(f"  {name:12} {result}  ({measure['captions']} captions)")
    for name, agreement in summary["agreement"].items():
        result = "all grades are equal" if agreement["alpha"] is None else _interval(agreement["alpha"], agreement)
        out.append(f"  agreement on {name:9} alpha {result} ({agreement['level']})")
    return out


def _interval(value: float, bounds: dict) -> str:
    return f"{value:.2f} [{bounds['low']:.2f}, {bounds['high']:.2f}]"
