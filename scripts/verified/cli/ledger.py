"""Ledger: the record of all model calls."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import JSON, command, configfile, family, folder, one_of, option, output
from verified.errors import InputError
from verified.io.text_tables import text_table
from verified.lmm.ledger_files import TOTALS

if TYPE_CHECKING:
    from verified.lmm.ledger import Ledger

family("ledger", "the record of all model calls")
LEDGER = folder("--ledger", "the ledger's folder (default: results/ledger)", default=Path("results/ledger"))


def _opened(path: Path) -> "Ledger":
    from verified.lmm.ledger import Ledger
    from verified.lmm.ledger_files import SUFFIX

    ledger = Ledger(path)
    if not any(path.glob(f"*{SUFFIX}")):
        raise InputError("no such ledger", file=path, remedy="it appears with the first caption")
    return ledger


@command(
    "ledger stats",
    "calls, tokens, time and cost by task, model and outcome, and the rest of a run's budget",
    one_of(LEDGER, configfile(None, "none, and no budget")),
    JSON,
    example="verified ledger stats",
    page="docs/models.md",
)
def stats(arguments: argparse.Namespace) -> None:
    """Print a row for each kind of calls."""
    from verified.config import read

    path, limits = arguments.ledger, {}
    if arguments.configfile:
        generation = read(*arguments.configfile).generation
        path, limits = Path(generation.ledger), generation.budget.model_dump(exclude_none=True)
    with _opened(path) as ledger:
        rows, damaged = ledger.summary(), list(ledger.damaged_lines())
    totals = {name: sum(row[name] for row in rows) for name in ("calls", *TOTALS)}
    spent = {
        "calls": totals["attempts"],
        "tokens": totals["tokens_in"] + totals["tokens_out"],
        "money": totals["cost"],
    }
    left = {name: max(0, limit - spent[name]) for name, limit in limits.items()}
    if arguments.json:
        print(
            json.dumps({"totals": totals, "budget": limits, "left": left, "rows": rows, "damaged": damaged}, indent=1)
        )
        return
    columns = ["task", "model", "status", "reason", "calls", "attempts", "tokens_in", "tokens_out", "seconds", "cost"]
    print(text_table(columns, rows))
    print(f"{totals['calls']} calls, {totals['attempts']} attempts, {totals['cost']:.2f} spent")
    print(*damaged, sep="\n", end="\n" if damaged else "")
    for name, limit in limits.items():
        print(f"budget: {limit:,g} {name}, of which {left[name]:,g} are left")


@command(
    "ledger export",
    "write a cassette (Parquet) that replays the calls without any model",
    LEDGER,
    output("file to write, ending in .parquet", required=True, metavar="FILE"),
    example="verified ledger export --output calls.parquet",
    page="docs/models.md",
)
def export_cassette(arguments: argparse.Namespace) -> None:
    """Write the cassette and its checksum record. Raises InputError for a name with another suffix."""
    from verified.lmm.cassette import export
    from verified.runtime.checksums import write_built_checksums

    cassette = arguments.output
    if cassette.suffix != ".parquet":
        raise InputError("a cassette's name ends in .parquet", file=cassette)
    with _opened(arguments.ledger) as ledger:
        print(f"{export(ledger, cassette)} calls written to {cassette}, {len(ledger.damaged)} damaged")
    write_built_checksums(cassette)


@command(
    "ledger verify",
    "check that each call is as it was recorded, and stored under its own key",
    LEDGER,
    example="verified ledger verify",
    page="docs/models.md",
)
def verify(arguments: argparse.Namespace) -> int:
    """Print a line per fault; 1 if there is any."""
    faulty = 0
    with _opened(arguments.ledger) as ledger:
        for fault in ledger.faults():
            faulty += 1
            print(fault)
        print(f"{ledger.totals()['calls']} calls, {faulty} faults")
    return 1 if faulty else 0


@command(
    "ledger forget",
    "forget failed calls of one kind, so that they can be retried",
    LEDGER,
    option(
        "--status",
        required=True,
        choices=["truncated", "invalid", "blocked", "error", "damaged"],
        help="outcome of the calls; damaged: lines that `verified ledger verify` reports",
    ),
    option("--reason", default="", help="their reason, as `verified ledger stats` shows it (default: any)"),
    example="verified ledger forget --status invalid",
    page="docs/models.md",
)
def forget(arguments: argparse.Namespace) -> None:
    """Forget the calls and report their number. Raises InputError without a ledger."""
    with _opened(arguments.ledger) as ledger:
        count = ledger.forget(arguments.status, arguments.reason)
    print(
        f"{count} calls forgotten. To ask them again, name their rules: snakemake --cores all results/tables "
        "--forcerun caption_statics caption_dynamics write_perturbations --configfile …"
    )
