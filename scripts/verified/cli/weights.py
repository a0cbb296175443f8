"""`verified fetch-models`."""

import argparse
import sys

from verified.cli.config import add_configfiles


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    command = subparsers.add_parser(
        "fetch-models", help="fetch every model of a configuration at its pinned revision, before any job runs"
    )
    add_configfiles(command, "config/paper.yaml")
    command.add_argument("--dry-run", action="store_true", help="list models and sizes, fetch nothing")
    command.set_defaults(run=_fetch)


def _fetch(arguments: argparse.Namespace) -> int:
    from verified.config import read
    from verified.errors import InputError
    from verified.weights.fetch import fetch_model
    from verified.weights.sizes import size_of
    from verified.weights.umt import fetch_umt
    from verified.weights.wanted import wanted_models

    settings = read(*arguments.configfile)
    weights, total, failed = settings.weights, 0, []
    for model, keys in wanted_models(settings).items():
        try:
            size = size_of(model, weights) if arguments.dry_run else fetch_model(model, weights)["bytes"]
        except InputError as error:  # the next one may still come, and each says what it lacks
            failed.append(f"{model.key} ({', '.join(keys)}): {error}")
            continue
        total += size
        print(f"{size / 1e9:7.2f} GB  {model.key}  ({', '.join(keys)})", flush=True)
    if settings.evaluator.umt_file and not arguments.dry_run:
        try:
            size = fetch_umt(settings.evaluator, weights.lock)["bytes"]
            total += size
            print(f"{size / 1e9:7.2f} GB  {settings.evaluator.umt_file}  (evaluator.umt_file)")
        except InputError as error:
            failed.append(f"evaluator.umt_file: {error}")
    print(f"{total / 1e9:7.2f} GB  in all; pinned by {weights.lock}")
    for problem in failed:
        print(f"error: {problem}", file=sys.stderr)
    return 2 if failed else 0
