"""Run: from a configuration to its report."""

import argparse
import json
import sys
from pathlib import Path

from verified.cli.command import CONFIGFILE, JSON, SNAKEMAKE, command, flag, option, output, run_workflow
from verified.errors import InputError
from verified.io.text_tables import text_table
from verified.runtime.project import PROJECT


@command(
    "init",
    "write a configuration for a folder of videos and an endpoint",
    option("name", help="name of the configuration: lower-case letters, digits and hyphens"),
    option("--videos", default="videos", help="folder of the videos (default: videos)"),
    option("--moments", default="moments.csv", help="the moments file, CSV or JSONL (default: moments.csv)"),
    flag("--no-moments", "there is no moments file: a run proposes moments"),
    option("--url", help="address of the endpoint, such as http://127.0.0.1:8000/v1 (default: OpenAI's own)"),
    option("--model", required=True, help="name by which the endpoint knows the language model"),
    option("--vision-model", help="name of the model that sees keyframes and clips (default: --model)"),
    option(
        "--key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable that holds the endpoint's key (default: OPENAI_API_KEY)",
    ),
    output("file to write (default: NAME.yaml); one that is there is left alone", metavar="FILE"),
    example="verified init kitchen --videos clips --no-moments --model gpt-4o-mini",
    page="docs/own-corpus.md",
)
def init(arguments: argparse.Namespace) -> None:
    """Write the configuration. Raises InputError for invalid values."""
    from verified.io.files import write_text
    from verified.planning.init import configuration
    from verified.runtime.secrets import redact

    text, settings, refused = configuration(
        arguments.name,
        arguments.videos,
        None if arguments.no_moments else arguments.moments,
        arguments.url,
        arguments.model,
        arguments.vision_model,
        arguments.key_variable,
    )
    for line in refused:
        print(redact(line), file=sys.stderr)
    if not text:
        raise InputError(
            f"none of its {len(refused)} rows can be used",
            file=arguments.moments,
            remedy="correct each problem above",
        )
    if refused:
        print(f"{len(refused)} rows of {arguments.moments} cannot be used, as said of each", file=sys.stderr)
    path = arguments.output or Path(f"{settings.name}.yaml")
    if path.exists():
        raise InputError("is there already", file=path, remedy="move it away, or give --output another name")
    write_text(path, text)
    print(f"{path} is written; try it out with: verified check --configfile {path}")


@command(
    "check",
    "before a run: try its videos, moments, keys, endpoints, models, disk and GPUs",
    CONFIGFILE,
    flag("--offline", "ask no endpoint"),
    flag("--cluster", "look for no GPUs here: the run's are on other machines"),
    flag("--print-config", "print the configuration with all defaults; name missing values and stop"),
    example="verified check --configfile config/config.yaml --offline",
    page="docs/own-corpus.md",
)
def check(arguments: argparse.Namespace) -> int:
    """Print one line for each finding; status 1 where one of them is a problem."""
    from verified.config import read
    from verified.planning.check import findings
    from verified.runtime.secrets import redact

    settings, files, levels = read(*arguments.configfile), " ".join(map(str, arguments.configfile)), []
    if arguments.print_config:
        return _print_config(settings, files)
    for finding in findings(settings, files, arguments.offline, arguments.cluster):
        levels.append(finding.level)
        print(redact(str(finding)), flush=True)
    counts = {level: levels.count(level) for level in ("problem", "note")}
    print(", ".join(f"{count} {level}{'s' * (count != 1)}" for level, count in counts.items()))
    return 1 if "problem" in levels else 0


def _print_config(settings, files: str) -> int:
    """Print the configuration to standard output and problems that would stop a run to standard error; 1 if there are
    any.
    """
    import yaml

    from verified.planning.check import problems

    print(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True), end="", flush=True)
    obstacles = problems(settings, files)
    for problem in obstacles:
        print(problem, file=sys.stderr)
    return 1 if obstacles else 0


@command(
    "quote",
    "calls of models that a run would still make: images, frames, tokens, money or GPU-hours",
    CONFIGFILE,
    JSON,
    example="verified quote --configfile config/config.yaml",
    page="docs/own-corpus.md",
)
def show_quote(arguments: argparse.Namespace) -> None:
    """Print a row per data set, task and model."""
    from verified.config import read
    from verified.planning.quote import quote, roles_without_prices, totals

    config = read(*arguments.configfile)
    rows = quote(config)
    if arguments.json:
        print(json.dumps({"rows": rows, "totals": totals(rows)}, indent=1))
        return
    columns = ["dataset", "task", "model", "known", "calls", "images", "frames", "tokens_in", "tokens_out"]
    columns += ["money", "gpu_hours"]
    print(text_table(columns, [*rows, {"dataset": "all", **totals(rows)}]))
    print(
        "known: calls that the ledger already holds. Tokens are estimates; a clip's frames and keyframes not yet cut "
        "count as the most the configuration allows. Money and GPU-hours follow from the configured prices and rates."
    )
    if (attempts := config.generation.attempts) > 1 and totals(rows)["calls"]:
        print(f"A call whose answer cannot be read is made up to {attempts} times, and each time is paid.")
    for row in rows:
        if row["pictures_unknown"]:
            print(
                f"{row['dataset']}, {row['task']}: the tokens of {row['pictures_unknown']} pictures for {row['model']} "
                "are NOT in tokens_in, as it is unknown how many they take: set tokens_per_image of the role."
            )
    for name, unseen in {row["dataset"]: row["unseen"] for row in rows if row["unseen"]}.items():
        print(
            f"{name}: {unseen} moments are counted without a look into their videos, as if each had all the keyframes "
            "that the configuration allows and every video could be read: "
            "`snakemake --cores all results/tables --until extract_keyframes --configfile …` looks first."
        )
    for name in roles_without_prices(config, rows):
        print(f"generation.{name} has no prices, so its calls count as free: set its price_in and price_out.")


@command(
    "report",
    "build figures and pages of a run and gather all of it in results/NAME/report.html",
    *SNAKEMAKE,
    example="verified report --configfile config/config.yaml",
    page="docs/pages.md",
)
def report(arguments: argparse.Namespace) -> int:
    """Build the report's inputs, then the report; returns Snakemake's status on failure."""
    from verified.config import read
    from verified.config.folders import home
    from verified.tables.summary import show

    target, link = Path(home(read(*arguments.configfile)), "report.html"), Path("results/report.html")
    gathered = ["--report", str(target), "--report-stylesheet", str(PROJECT / "report" / "report.css")]
    for step in ([], gathered):
        if status := run_workflow(arguments, *step, "--", "report_items"):
            return status
    show(target, link)
    print(f"The report: {target}, also at {link}")
    return 0


@command(
    "show",
    "everything known of a moment: keyframes, calls, candidates, decision",
    option("moment", type=int, metavar="MOMENT", help="its desc_id"),
    option("--dataset", help="data set, where several have a moment of this number"),
    JSON,
    CONFIGFILE,
    example="verified show 1",
    page="docs/own-corpus.md",
)
def show(arguments: argparse.Namespace) -> None:
    """Print it. Raises InputError for an unknown moment, or one of several data sets."""
    from verified.annotations.show import document, facts, text
    from verified.config import read

    record = facts(read(*arguments.configfile), arguments.moment, arguments.dataset)
    print(document(record) if arguments.json else text(record))


@command(
    "dev where",
    "print the folder of the workflow's own Snakefile, rules and configurations",
    example="verified dev where",
    page="docs/module.md",
)
def where(arguments: argparse.Namespace) -> None:
    """Print it."""
    print(PROJECT)
