"""`verified twins`: the preferences of two submissions."""

import argparse
import json
from pathlib import Path

from verified.cli.command import JSON, command, option


@command(
    "twins",
    "how often submissions prefer the true sentence to its twin",
    option("truth", type=Path, metavar="TRUTH", help="ground truth of the true sentences: FIG or TVR form"),
    option("twins", type=Path, metavar="TWINS", help="JSON Lines of the twins' desc_id; other rows are not compared"),
    option("true", type=Path, metavar="SUBMISSION", help="the answers to the true sentences"),
    option("twin", type=Path, metavar="TWIN_SUBMISSION", help="the same model's answers to the twins"),
    JSON,
    example="verified twins test.jsonl twins.jsonl true.json.gz twins.json.gz    # your model's answers",
    page="extensions/twins/README.md",
)
def show_twins(arguments: argparse.Namespace) -> None:
    """Print a line a task."""
    from verified.benchmark.submissions import json_rows
    from verified.benchmark.vcmr.submission import read_truth
    from verified.errors import InputError
    from verified_twins.accuracy import measure

    truth = read_truth(arguments.truth)
    ids = [row["desc_id"] for row in json_rows(arguments.twins, required=("desc_id",))]
    if unknown := [desc_id for desc_id in ids if desc_id not in truth]:
        raise InputError(f"desc_id {unknown[0]!r} is not in {arguments.truth}", file=arguments.twins)
    accuracy = measure(truth, [(arguments.true, arguments.twin)], ids)
    if arguments.json:
        print(json.dumps({"queries": len(ids), "tasks": accuracy}))
        return
    for task, entry in accuracy.items():
        bounds = "" if entry["low"] is None else f" [{entry['low']:.1f}, {entry['high']:.1f}]"
        print(f"{task}: the true sentence is preferred in {entry['value']:.1f} %{bounds} of {len(ids)} (chance 50)")
