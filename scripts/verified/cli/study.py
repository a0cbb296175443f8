"""`verified study pages` and `verified study import FILES...`: the pages of a study, and what people answered."""

import argparse
import subprocess
from pathlib import Path

from verified.cli.config import add_configfiles
from verified.planning.running import add_run_options, configured, snakemake_command


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse subparsers object."""
    study = subparsers.add_parser("study", help="the pages of a user study, and what people answered")
    actions = study.add_subparsers(required=True, metavar="ACTION")
    pages = actions.add_parser("pages", help="write a page for each participant, and say where they are")
    add_configfiles(pages)
    add_run_options(pages)
    pages.add_argument("options", nargs="*", metavar="OPTION", help="further options of Snakemake, after --")
    pages.set_defaults(run=run_pages)
    parser = actions.add_parser("import", help="check all answer files of a study and write its summary")
    parser.add_argument("files", nargs="+", metavar="FILE", help="files that the participants exported")
    parser.add_argument(
        "--study",
        type=Path,
        default=Path("results/demo/study"),
        metavar="FOLDER",
        help="the study's folder, which holds key.json (default results/demo/study)",
    )
    parser.add_argument(
        "--per-answer", action="store_true", help="let every answer count instead of one verdict per caption"
    )
    parser.add_argument(
        "--raters",
        type=int,
        metavar="NUMBER",
        help="count captions with the grades of so many people (default: as many as the study asks)",
    )
    parser.set_defaults(run=run)


def run_pages(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set with videos and print which there are."""
    from verified.config import read
    from verified.config.folders import dataset_folder, datasets_with

    settings = read(*arguments.configfile)
    options = [*configured(arguments), "--cores", arguments.cores, *arguments.options]
    run = subprocess.run(snakemake_command(*options, "--", "study"))
    if run.returncode:
        return run.returncode
    for name in datasets_with(settings, "annotated_here"):
        print(what_to_do(Path(dataset_folder(settings, name), "study")))
    return 0


def what_to_do(folder: Path) -> str:
    """The pages of a study, and what to do with them."""
    from verified.io.jsonl import read_json

    key, pages = read_json(folder / "key.json"), sorted((folder / "pages").glob("participant-*.html"))
    return "\n".join(
        [
            f"{key['title']}: {len(key['questions'])} captions, {key['raters']} grades each, for {len(pages)} people.",
            "Give each of them one page, which works from a file and needs no network:",
            *(f"  {page}" for page in pages),
            f"Then: verified study import FILES... --study {folder}",
        ]
    )


def run(arguments: argparse.Namespace) -> None:
    """Write summary.json and answers.jsonl into the study's folder and print the measures."""
    from verified.errors import InputError
    from verified.io.jsonl import write_json, write_jsonl
    from verified.people.answers import collect, read_key
    from verified.people.study.aggregate import summarise
    from verified.people.study.sample import FORM
    from verified.runtime.seals import seal_built

    key = read_key(arguments.study / "key.json", FORM)
    if arguments.raters is not None and arguments.raters < 1:
        raise InputError("--raters must be at least 1")
    collected = collect(arguments.files, key, FORM)
    for participant, numbers in collected.open.items():
        asked = len(key["participants"][participant - 1])
        came = f"{asked - len(numbers)} of {asked}" if participant in collected.unfinished else "no"
        print(f"{came} answers of participant {participant}; open questions: {', '.join(map(str, numbers))}")
    summary = summarise(collected.answers, key, arguments.per_answer, arguments.raters)
    summary["unfinished"] = collected.unfinished
    write_jsonl(arguments.study / "answers.jsonl", collected.answers)
    write_json(arguments.study / "summary.json", summary)
    for name in ("answers.jsonl", "summary.json"):
        seal_built(arguments.study / name)
    print("\n".join(lines(summary)))


def lines(summary: dict) -> list[str]:
    """The summary for a terminal."""
    came = summary["participants"] - len(summary["missing"])
    out = [f"{summary['title']}: {summary['answers']} answers of {came} of {summary['participants']} participants"]
    if summary["unfinished"]:
        out.append(f"  {len(summary['unfinished'])} of them have not answered all of their questions")
    if summary["left_out"]:
        few = len(summary["left_out"])
        total = few + summary["measures"]["S_total"]["captions"]
        out.append(f"  {few} of {total} captions are left out: fewer than {summary['raters']} people graded them")
    for name, measure in summary["measures"].items():
        shown = "no captions of this type" if measure["value"] is None else _interval(measure["value"], measure)
        out.append(f"  {name:12} {shown}  ({measure['captions']} captions)")
    for name, agreement in summary["agreement"].items():
        shown = "all grades are equal" if agreement["alpha"] is None else _interval(agreement["alpha"], agreement)
        out.append(f"  agreement on {name:9} alpha {shown} ({agreement['level']})")
    return out


def _interval(value: float, bounds: dict) -> str:
    return f"{value:.2f} [{bounds['low']:.2f}, {bounds['high']:.2f}]"
