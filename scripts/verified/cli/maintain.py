"""Maintain: whole files, local models, and pages that agree with the code."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from verified.cli.command import command, configfile, family, flag, folder, option
from verified.errors import InputError
from verified.io.files import read_text
from verified.io.yaml_file import MOST_CHARACTERS

family("dev", "what maintainers use")
KEYS_HEAD = """# Keys of a configuration

Lists are written as in YAML; `NAME` stands for a data set's own name; `source(demo)` and its siblings are chosen by
`source.kind`. `ROLE` stands for each role of a model (`llm`, `image_lmm`, `video_lmm`, `speech`, `embed`)
that has no row of its own for the key. `verified dev config-docs` prints this page.
"""


@command(
    "verify",
    "check every file and folder that a run built against the checksums that its job recorded",
    configfile(None, "all that is below results"),
    folder("--directory", "working directory of the run", default=Path(".")),
    flag("--heal", "print the commands that build it again; nothing is removed by itself"),
    example="verified verify --configfile config/config.yaml",
    page="docs/integrity.md",
    checks_itself=True,
)
def verify_run(arguments: argparse.Namespace) -> int:
    """Print a line per finding, and with --heal the commands; 1 if there are findings, else 0."""
    from verified.runtime.checksums import BUILT
    from verified.runtime.manifest import rebuild_command
    from verified.runtime.verify import build_order, verify

    files = arguments.configfile
    folder = Path(BUILT, *_name(files))
    configurations = shlex.join(str(path if arguments.directory == Path() else path.absolute()) for path in files)
    if not arguments.directory.is_dir():
        raise InputError("no such folder", file=arguments.directory)
    os.chdir(arguments.directory)
    if not folder.is_dir():
        raise InputError("nothing was built here", file=folder)
    count, findings = verify(folder)
    for finding in findings:
        print(f"{finding.kind}  {finding.path}: {finding.message}")
    sound = count - sum(finding.kind != "unrecorded" for finding in findings)
    print(f"{folder}: {sound} of {count} files and folders are as they were written; {len(findings)} to be rebuilt")
    if findings and not arguments.heal:
        print("--heal prints the commands that build them again")
    elif findings:
        if arguments.directory != Path():
            print(f"  cd {shlex.quote(str(arguments.directory))}")
        if unneeded := [str(finding.path) for finding in findings if finding.temporary]:
            print(f"  {shlex.join(['rm', '-r', *unneeded])}")  # a run makes them again where it needs them
        for together in build_order(finding for finding in findings if not finding.temporary):
            print(f"  {rebuild_command(together, configurations or None)}")
    return int(bool(findings))


def _name(configurations: list[Path]) -> list[str]:
    """The name that these files give to a configuration, if any."""
    from verified.config.base import check_name
    from verified.config.layers import merge_layers

    if not (name := merge_layers(configurations).get("name")):
        return []
    try:
        check_name(name)
    except ValueError as error:
        raise InputError(str(error), file=", ".join(map(str, configurations))) from None
    return [name]


@command(
    "fetch",
    "fetch published annotations, and every model of a configuration at its pinned revision, before any job runs",
    configfile("config/paper.yaml"),
    flag("--annotations", "the annotations alone"),
    flag("--dry-run", "list files, models and sizes, fetch nothing"),
    example="verified fetch --configfile config/config.yaml",
    page="docs/paper-run.md",
)
def fetch(arguments: argparse.Namespace) -> int:
    """Fetch or list them; 2 if one is unavailable, after trying all others."""
    from verified.config import read
    from verified.planning.stages import wanted_models
    from verified.released.collections import downloads
    from verified.released.files import download, verify
    from verified.weights.fetch import fetch_model, fetch_umt, size_of

    settings = read(*arguments.configfile)
    weights, total, failed = settings.weights, 0, []
    for path, file in downloads(dataset.source for dataset in settings.datasets.values()):
        try:
            if arguments.dry_run:
                pass
            elif file.access == "open" and not path.exists():
                download(file, path)
            else:
                verify(path, file)
        except InputError as error:
            failed.append(str(error))
            continue
        size = f"{file.bytes / 1e6:7.2f} MB" if file.bytes else "unknown"
        print(f"{size:>10}  {path}{'' if file.access == 'open' else '  (fetch it by hand)'}", flush=True)
    for model, keys in () if arguments.annotations else wanted_models(settings).items():
        try:
            size = size_of(model, weights) if arguments.dry_run else fetch_model(model, weights)["bytes"]
        except InputError as error:  # later candidates may be valid; each reports its problem
            failed.append(f"{model.key} ({', '.join(keys)}): {error}")
            continue
        total += size
        print(f"{size / 1e9:7.2f} GB  {model.key}  ({', '.join(keys)})", flush=True)
    if settings.evaluator.umt_file and not arguments.dry_run and not arguments.annotations:
        try:
            size = fetch_umt(settings.evaluator, weights.lock)["bytes"]
            total += size
            print(f"{size / 1e9:7.2f} GB  {settings.evaluator.umt_file}  (evaluator.umt_file)")
        except InputError as error:
            failed.append(f"evaluator.umt_file: {error}")
    if not arguments.annotations:
        print(f"{total / 1e9:7.2f} GB  of models in all; pinned by {weights.lock}")
    for problem in failed:
        print(f"error: {problem}", file=sys.stderr)
    return 2 if failed else 0


@command(
    "dev debug",
    "run the script of one rule by hand, where breakpoints hold",
    option("rule", metavar="RULE", help="name of the rule, such as score_captions"),
    option("wildcards", nargs="*", metavar="WILDCARD=VALUE", help="such as dataset=demo shard=shard-00"),
    configfile(None, "that of the workflow"),
    example="verified dev debug score_captions dataset=demo shard=shard-00",
    page="docs/debugging.md",
    checks_itself=True,
)
def debug(arguments: argparse.Namespace) -> None:
    """Run it in this process. Raises InputError for an unknown rule or wildcard."""
    from verified.runtime.debug import run_script

    pairs = [text.partition("=") for text in arguments.wildcards]
    if odd := [name for name, sign, _ in pairs if not sign]:
        raise InputError(f"{odd[0]!r} is no wildcard", remedy="write WILDCARD=VALUE, such as dataset=demo")
    run_script(arguments.rule, {name: value for name, _, value in pairs}, arguments.configfile)


@command(
    "dev readme",
    "print a run's figures for a README, or check the figures of a README against a run",
    folder(
        "tables",
        "the run's tables (default: results/tables)",
        metavar="FOLDER",
        nargs="?",
        default=Path("results/tables"),
    ),
    folder("--check", "report whether this run confirms or contradicts each figure in FILE", metavar="FILE"),
    option("--margin", type=float, metavar="POINTS", help="with --check: how far figures may be apart (default: 5)"),
    example="verified dev readme results/demo/tables",
    page="docs/tables.md",
)
def readme(arguments: argparse.Namespace) -> int:
    """Print the figures; with --check, a line per figure that this run does not confirm.

    Then status 1 if it contradicts one, 3 if there are some of which it cannot tell.
    """
    from verified.tables.readme import (
        CONFIRMED,
        CONTRADICTED,
        MARGIN,
        UNKNOWN,
        read_rows,
        readme_figures,
        readme_table,
        readme_verdicts,
    )

    margin = MARGIN if arguments.margin is None else arguments.margin
    if not margin > 0:
        raise InputError(f"--margin {margin:g} allows nothing", remedy="give points of recall, such as 5")
    frame = arguments.tables / "all.csv"
    if not frame.is_file():
        raise InputError("no such file", file=frame, remedy="build the tables first: make tables")
    rows = read_rows(frame)
    if arguments.check is None:
        print(readme_figures(rows), end="")
        return 0
    text = read_text(arguments.check, MOST_CHARACTERS)
    try:
        cells = readme_table(text)
    except ValueError as error:
        raise InputError(str(error), file=arguments.check) from None
    if not cells:
        raise InputError("holds no table of the run", file=arguments.check, remedy="paste the command's output")
    verdicts = readme_verdicts(text, rows, margin)
    for verdict in verdicts:
        if verdict.verdict != CONFIRMED:
            print(f"{verdict.name}: {verdict.verdict}: {verdict.why}")
    counts = {kind: sum(verdict.verdict == kind for verdict in verdicts) for kind in (CONFIRMED, CONTRADICTED, UNKNOWN)}
    print(f"{len(verdicts)} figures: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    return 1 if counts[CONTRADICTED] else 3 if counts[UNKNOWN] else 0


@command(
    "dev config-docs",
    "print a page with every key of a configuration, its default and its meaning",
    example="verified dev config-docs",
    page="docs/configuration.md",
)
def config_docs(arguments: argparse.Namespace) -> None:
    """Print the page as Markdown."""
    from verified.config import config_model
    from verified.config.json_schema import key_table

    print(f"{KEYS_HEAD}\n{key_table(config_model().model_json_schema())}", end="")
