"""Quote: future model calls of a run."""

import argparse
import json

from verified.cli.command import JSON, WORKFLOW, command, flag
from verified.errors import InputError
from verified.io.text_tables import text_table


@command(
    "quote",
    "calls of models that a run would still make: images, frames, tokens, money or GPU-hours (jobs and hours: plan)",
    *WORKFLOW,
    JSON,
    flag("--look", "probe videos and cut keyframes first where a run would: it asks no model"),
)
def show_quote(arguments: argparse.Namespace) -> int:
    """Print a row per data set, task and model; returns Snakemake's status where --look fails."""
    from verified.config import read
    from verified.planning.quote import quote, roles_without_prices, totals

    config = read(*arguments.configfile)
    if arguments.look and (status := _run_first_stages(config, arguments)):
        return status
    rows = quote(config)
    if arguments.json:
        print(json.dumps({"rows": rows, "totals": totals(rows)}, indent=1))
        return 0
    columns = ["dataset", "task", "model", "known", "calls", "images", "frames", "tokens_in", "tokens_out"]
    columns += ["money", "gpu_hours"]
    print(text_table(columns, [*rows, {"dataset": "all", **totals(rows)}]))
    print(
        "known: calls that the ledger already holds. Tokens are estimates; a clip's frames and keyframes not yet cut "
        "count as the most the configuration allows. Money and GPU-hours follow from the configured prices and rates."
    )
    for row in rows:
        if row["pictures_unknown"]:
            print(
                f"{row['dataset']}, {row['task']}: the tokens of {row['pictures_unknown']} pictures for {row['model']} "
                "are NOT in tokens_in, as it is unknown how many they take: set tokens_per_image of the role."
            )
    for name, unseen in {row["dataset"]: row["unseen"] for row in rows if row["unseen"]}.items():
        print(
            f"{name}: {unseen} moments are counted without a look into their videos, as if each had all the keyframes "
            "that the configuration allows and every video could be read: `verified quote --look` looks first."
        )
    for name in roles_without_prices(config, rows):
        print(f"generation.{name} has no prices, so its calls count as free: set its price_in and price_out.")
    return 0


def _run_first_stages(config, arguments: argparse.Namespace) -> int:
    """Run the stages before the first model call; their output goes to standard error."""
    import sys

    from verified.config.folders import dataset_folder, shown_datasets
    from verified.extension import selections
    from verified.planning.running import run_workflow
    from verified.runtime.wildcards import shard_names

    datasets = [name for name in shown_datasets(config) if config.datasets[name].source.annotated_here]
    for name in datasets:
        if config.datasets[name].source.proposes_moments:
            raise InputError(
                f"the moments of {name} are proposed by a run, which asks a model for their captions",
                remedy="quote without --look, or name the corrected moments in the source",
            )
    selecting = {name for name in datasets for selection in selections() if selection.asks(config, name)}
    targets = [
        # Where answers decide which moments remain, their calls are part of the quote.
        f"{dataset_folder(config, name)}/"
        + (f"corpus/found/{shard}.videos.jsonl" if name in selecting else f"keyframes/{shard}.tar")
        for name in datasets
        for shard in shard_names(config.shards)
    ]
    if not targets:
        return 0
    return run_workflow(arguments, "--", *targets, stdout=sys.stderr)
