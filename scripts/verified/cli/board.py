"""`verified board` scores all submissions of a folder; `verified board-add` puts those of a run there."""

import argparse
from pathlib import Path

from verified.errors import InputError


def add_parser(subparsers) -> None:
    """Add the subcommands to an argparse object made by `add_subparsers`."""
    board = subparsers.add_parser(
        "board",
        help="validate and score all submissions of a folder",
        description="Read SUBMISSIONS/DATASET/NAME with its card and lists, score them, write one table per data set.",
    )
    board.add_argument("submissions", metavar="FOLDER", nargs="?", default="submissions", help="folder (submissions)")
    board.add_argument("--output", default="board", metavar="FOLDER", help="where to write the tables (board)")
    board.set_defaults(run=run_board)
    add = subparsers.add_parser(
        "board-add",
        help="put the models of a finished run on the board",
        description="Copy a run's ground truth and submissions, and write a card for each model.",
    )
    add.add_argument("run_folder", metavar="RUN", help="the results of a data set, such as results/demo")
    add.add_argument("board", metavar="FOLDER", help="the board's folder for it, such as submissions/demo")
    add.add_argument("--command", default="make tables", metavar="C", help="what makes the run again (make tables)")
    add.set_defaults(run=run_add)


def run_board(arguments: argparse.Namespace) -> int:
    """Write and print the board of every data set; raises InputError for a submission that cannot be scored."""
    from verified.benchmark.board.scores import board_table
    from verified.tables.write import write_simple

    folder = Path(arguments.submissions)
    datasets = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not datasets:
        raise InputError("holds no data set", file=folder, remedy="fill it with `verified board-add`")
    output = Path(arguments.output)
    for dataset in datasets:
        table = board_table(dataset)
        write_simple(output, table, [])
        print((output / f"{table.key}.md").read_text(encoding="utf-8"))
    return 0


def run_add(arguments: argparse.Namespace) -> int:
    """Add the models of a run and name them; raises InputError for a run that cannot be added."""
    from verified.benchmark.board.fill import add_run
    from verified.tables.provenance import commit

    names = add_run(Path(arguments.run_folder), Path(arguments.board), arguments.command, commit(Path.cwd()))
    print(f"{arguments.board}: {', '.join(names)}")
    return 0
