"""Quote: future model calls of a run."""

import argparse
import json

from verified.cli.command import CONFIGFILE, JSON, command
from verified.io.text_tables import text_table


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
