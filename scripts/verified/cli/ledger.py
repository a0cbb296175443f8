"""Ledger: the record of all model calls."""

import argparse
import json
from pathlib import Path

from verified.cli.command import JSON, command, configfile, folder, one_of, option, output
from verified.errors import InputError
from verified.io.text_table import text_table

LEDGER = folder("--ledger", "the ledger's file (default: results/ledger.sqlite)", default=Path("results/ledger.sqlite"))


@command(
    "ledger stats",
    "calls, tokens, time and cost by task, model and outcome, and what is left of a run's budget",
    one_of(LEDGER, configfile(None, "none, and no budget")),
    JSON,
)
def stats(arguments: argparse.Namespace) -> None:
    """Print a row for each kind of calls."""
    from verified.config import read
    from verified.lmm.ledger import Ledger

    path, limits = arguments.ledger, {}
    if arguments.configfile:
        generation = read(*arguments.configfile).generation
        path, limits = Path(generation.ledger), generation.budget.model_dump(exclude_none=True)
    with Ledger(path, read_only=True) as ledger:
        rows, totals = ledger.summary(), ledger.totals()
    spent = {
        "calls": totals["attempts"],
        "tokens": totals["tokens_in"] + totals["tokens_out"],
        "money": totals["cost"],
    }
    left = {name: max(0, limit - spent[name]) for name, limit in limits.items()}
    if arguments.json:
        print(json.dumps({"totals": totals, "budget": limits, "left": left, "rows": rows}, indent=1))
        return
    columns = ["task", "model", "status", "reason", "calls", "attempts", "tokens_in", "tokens_out", "seconds", "cost"]
    print(text_table(columns, rows))
    print(f"{totals['calls']} calls, {totals['attempts']} attempts, {totals['cost']:.2f} spent")
    for name, limit in limits.items():
        print(f"budget: {limit:,g} {name}, of which {left[name]:,g} are left")


@command(
    "ledger export",
    "write a cassette (Parquet) that replays the calls without any model",
    LEDGER,
    output("file to write, ending in .parquet", required=True, metavar="FILE"),
)
def export_cassette(arguments: argparse.Namespace) -> None:
    """Write the cassette and its seal. Raises InputError for a name of another ending."""
    from verified.lmm.cassette import export
    from verified.lmm.ledger import Ledger
    from verified.runtime.seals import seal_built

    cassette = arguments.output
    if cassette.suffix != ".parquet":
        raise InputError("a cassette's name ends in .parquet", file=cassette)
    with Ledger(arguments.ledger, read_only=True) as ledger:
        print(f"{export(ledger, cassette)} calls written to {cassette}, {ledger.damaged} damaged")
    seal_built(cassette)


@command("ledger verify", "check that the file is intact and each call is stored under its own key", LEDGER)
def verify(arguments: argparse.Namespace) -> int:
    """Print a line per fault; 1 if there is any."""
    from verified.lmm.ledger import Ledger
    from verified.lmm.ledger_check import faults

    with Ledger(arguments.ledger, read_only=True) as ledger:
        faulty = 0
        for fault in faults(ledger):
            faulty += 1
            print(fault)
        try:
            count = f"{ledger.totals()['calls']} calls"
        except InputError:
            count = "calls cannot be counted"
    print(f"{count}, {faulty} faults")
    return 1 if faulty else 0


@command(
    "ledger rescue",
    "bring what can be read of a damaged ledger into a new file",
    LEDGER,
    output("file to write; move it to the old place afterwards", required=True, metavar="FILE"),
)
def rescue_calls(arguments: argparse.Namespace) -> None:
    """Write the new ledger and say how much was saved."""
    from verified.lmm.ledger_check import rescue

    saved, broken = rescue(arguments.ledger, arguments.output)
    print(f"{saved} calls written to {arguments.output}; in {broken} of 256 parts of the old file something is lost")


@command(
    "ledger forget",
    "remove failed calls of one kind, so that they can be asked again",
    LEDGER,
    option("--status", required=True, choices=["truncated", "invalid", "blocked", "error"], help="how the calls ended"),
    option("--reason", default="", help="and why, as `verified ledger stats` shows it (default: for any reason)"),
)
def forget(arguments: argparse.Namespace) -> None:
    """Remove them and say how many. Raises InputError where there is no ledger."""
    from verified.lmm.ledger import Ledger

    if not arguments.ledger.is_file():
        raise InputError("no such ledger", file=arguments.ledger)
    with Ledger(arguments.ledger) as ledger:
        count = ledger.forget(arguments.status, arguments.reason)
    print(
        f"{count} calls forgotten. To ask them again, name their rules: snakemake --cores all results/tables "
        "--forcerun caption_statics caption_dynamics write_perturbations --configfile …"
    )
