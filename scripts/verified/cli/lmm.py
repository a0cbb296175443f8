"""`verified ledger stats|export|verify|rescue|forget` and `verified quote`."""

import argparse
import json
from pathlib import Path

from verified.cli.config import add_configfiles
from verified.errors import InputError


def add_parser(subparsers) -> None:
    """Add the subcommands."""
    ledger = subparsers.add_parser("ledger", help="look into, export or check the record of all model calls")
    actions = ledger.add_subparsers(required=True, metavar="ACTION")
    for name, run, text in (
        ("stats", _stats, "calls, tokens, time and cost by task, model and outcome"),
        ("export", _export, "write a cassette (Parquet) that replays the calls without any model"),
        ("verify", _verify, "check that the file is intact and each call is stored under its own key"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("--ledger", type=Path, default=Path("results/ledger.sqlite"), help="the ledger's file")
        action.set_defaults(run=run)
        if name == "export":
            action.add_argument("cassette", type=Path, help="file to write, ending in .parquet")
        if name == "stats":
            action.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    saved = actions.add_parser("rescue", help="bring what can be read of a damaged ledger into a new file")
    saved.add_argument("damaged", type=Path, help="the damaged file")
    saved.add_argument("new", type=Path, help="file to write; move it to the old place afterwards")
    saved.set_defaults(run=_rescue)
    forgotten = actions.add_parser("forget", help="remove failed calls of one kind, so that they can be asked again")
    forgotten.add_argument("--ledger", type=Path, default=Path("results/ledger.sqlite"), help="the ledger's file")
    forgotten.add_argument(
        "--status", required=True, choices=["truncated", "invalid", "blocked", "error"], help="how the calls ended"
    )
    forgotten.add_argument(
        "--reason", default="", help="and why, as `verified ledger stats` shows it; all if not given"
    )
    forgotten.set_defaults(run=_forget)
    quote = subparsers.add_parser(
        "quote", help="calls, images, frames, tokens and money or GPU-hours that a run would still take"
    )
    add_configfiles(quote)
    quote.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    quote.add_argument(
        "--probe", action="store_true", help="ask each endpoint with and without a picture, to know what one takes"
    )
    quote.add_argument(
        "--look", action="store_true", help="probe videos and cut keyframes first where a run would: it asks no model"
    )
    quote.add_argument("--cores", default="all", help="cores that --look may use (default all)")
    quote.set_defaults(run=_quote)


def _stats(arguments: argparse.Namespace) -> None:
    from verified.lmm.ledger import Ledger

    with Ledger(arguments.ledger, read_only=True) as ledger:
        rows, totals = ledger.summary(), ledger.totals()
    if arguments.json:
        print(json.dumps({"totals": totals, "rows": rows}, indent=1))
        return
    print(
        _table(
            ["task", "model", "status", "reason", "calls", "attempts", "tokens_in", "tokens_out", "seconds", "cost"],
            rows,
        )
    )
    print(f"{totals['calls']} calls, {totals['attempts']} attempts, {totals['cost']:.2f} spent")


def _export(arguments: argparse.Namespace) -> None:
    from verified.lmm.cassette import export
    from verified.lmm.ledger import Ledger
    from verified.runtime.seals import seal_built

    if arguments.cassette.suffix != ".parquet":
        raise InputError("a cassette's name ends in .parquet", file=arguments.cassette)
    with Ledger(arguments.ledger, read_only=True) as ledger:
        print(f"{export(ledger, arguments.cassette)} calls written to {arguments.cassette}, {ledger.damaged} damaged")
    seal_built(arguments.cassette)


def _verify(arguments: argparse.Namespace) -> int:
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


def _rescue(arguments: argparse.Namespace) -> None:
    from verified.lmm.ledger_check import rescue

    saved, broken = rescue(arguments.damaged, arguments.new)
    print(f"{saved} calls written to {arguments.new}; in {broken} of 256 parts of the old file something is lost")


def _forget(arguments: argparse.Namespace) -> None:
    from verified.lmm.ledger import Ledger

    if not arguments.ledger.is_file():
        raise InputError("no such ledger", file=arguments.ledger)
    with Ledger(arguments.ledger) as ledger:
        count = ledger.forget(arguments.status, arguments.reason)
    print(
        f"{count} calls forgotten. To ask them again, name their rules: snakemake --cores all results/tables "
        "--forcerun caption_statics caption_dynamics write_perturbations --configfile …"
    )


def _quote(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.lmm.quote import quote, totals, unpriced

    config = read(*arguments.configfile)
    if arguments.look and (status := _look(config, arguments)):
        return status
    if arguments.probe:
        config = _probed(config)
    rows = quote(config)
    if arguments.json:
        print(json.dumps({"rows": rows, "totals": totals(rows)}, indent=1))
        return 0
    columns = [
        "dataset",
        "task",
        "model",
        "known",
        "calls",
        "images",
        "frames",
        "tokens_in",
        "tokens_out",
        "money",
        "gpu_hours",
    ]
    print(_table(columns, [*rows, {"dataset": "all", **totals(rows)}]))
    print(
        "known: calls that the ledger already holds. Tokens are estimates; a clip's frames and keyframes not yet cut "
        "count as the most the configuration allows. Money and GPU-hours follow from the configured prices and rates."
    )
    for row in rows:
        if row["pictures_unknown"]:
            print(
                f"{row['dataset']}, {row['task']}: the tokens of {row['pictures_unknown']} pictures for {row['model']} "
                "are NOT in tokens_in, as it is unknown how many they take: set tokens_per_image of the role, or ask "
                "the endpoint with `verified quote --probe`."
            )
    for name, unseen in {row["dataset"]: row["unseen"] for row in rows if row["unseen"]}.items():
        print(
            f"{name}: {unseen} moments are counted without a look into their videos, as if each had all the keyframes "
            "that the configuration allows and every video could be read: `verified quote --look` looks first."
        )
    for name in unpriced(config, rows):
        print(f"generation.{name} has no prices, so its calls count as free: set its price_in and price_out.")
    return 0


def _look(config, arguments: argparse.Namespace) -> int:
    """Run the stages before the first question to a model; what they say goes to standard error."""
    import subprocess
    import sys

    from verified.config.folders import dataset_folder, shown_datasets
    from verified.planning.running import configured, snakemake_command
    from verified.runtime.shards import shard_names

    datasets = [name for name in shown_datasets(config) if config.datasets[name].source.annotated_here]
    for name in datasets:
        if config.datasets[name].source.proposes_moments:
            raise InputError(
                f"the moments of {name} are proposed by a run, which asks a model for their captions",
                remedy="quote without --look, or name the corrected moments in the source",
            )
    targets = [
        f"{dataset_folder(config, name)}/keyframes/{shard}.tar"
        for name in datasets
        for shard in shard_names(config.shards)
    ]
    if not targets:
        return 0
    command = snakemake_command(*configured(arguments), "--cores", arguments.cores, "--", *targets)
    return subprocess.run(command, stdout=sys.stderr).returncode


def _probed(config):
    """The configuration with `tokens_per_image` as endpoints count them, where neither it nor a rule gives them."""
    from verified.lmm.probe import probe_picture
    from verified.lmm.vision_tokens import frame_tokens

    generation, measured = config.generation, {}
    for name in ("image_lmm", "video_lmm"):
        role = getattr(generation, name)
        if role.kind.asks_endpoint and frame_tokens(role, 640, 480) is None:
            tokens = probe_picture(role, generation)
            print(f"{name}: {role.model} takes {tokens} tokens for a picture of {generation.frame_side} pixels")
            measured[name] = role.model_copy(update={"tokens_per_image": tokens})
    return config.model_copy(update={"generation": generation.model_copy(update=measured)})


def _table(columns: list[str], rows: list[dict]) -> str:
    """Plain text, columns as wide as they need to be, numbers to the right."""
    shown = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[index]) for line in [columns, *shown]) for index in range(len(columns))]
    numeric = [all(isinstance(row.get(column), int | float | None) for row in rows) for column in columns]
    lines = [columns, *shown]
    return "\n".join(
        "  ".join(
            text.rjust(width) if right else text.ljust(width) for text, width, right in zip(line, widths, numeric)
        ).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
