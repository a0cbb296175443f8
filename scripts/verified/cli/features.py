"""`verified features inspect FILE`: what a feature file holds, and whether it holds it soundly."""

import argparse
from pathlib import Path


def add_parser(subparsers) -> None:
    """Add `features` with its subcommand `inspect`."""
    features = subparsers.add_parser("features", help="look into feature files")
    actions = features.add_subparsers(required=True, metavar="ACTION")
    inspect = actions.add_parser("inspect", help="describe an HDF5 feature file and check every data set in it")
    inspect.add_argument("file", type=Path, help="the feature file, such as results/demo/features/video.h5")
    inspect.add_argument("--videos", type=Path, help="videos.jsonl: also compare ids and numbers of clips with it")
    inspect.set_defaults(run=_inspect)


def _inspect(arguments: argparse.Namespace) -> int:
    """Print the description; the exit status is 1 if anything in the file is unsound."""
    from verified.features.inspect import inspect_features

    lines, problems = inspect_features(arguments.file, arguments.videos)
    print("\n".join(lines))
    for problem in problems:
        print(f"problem: {problem}")
    return int(bool(problems))
