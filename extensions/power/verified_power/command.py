"""`verified power`: the differences that a comparison can detect, and the sizes needed for a given one."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import JSON, between, command, option, several
from verified.errors import InputError

if TYPE_CHECKING:
    from verified_power.power import Spread

TRAININGS = (2, 3, 5, 10)


@command(
    "power",
    "the smallest difference between two models that a test can detect, and the queries and trainings that one needs",
    option(
        "runs", nargs="*", type=Path, metavar="RUN", help="two runs with several trainings each: results/NAME/…/xml/fig"
    ),
    several("--metric", default=("VCMR/0.5/r1",), metavar="M", help="metric of the runs (default: VCMR/0.5/r1)"),
    option("--tested-on", default="fig", choices=("cog", "fig"), help="captions that the runs answered (default: fig)"),
    option("--difference", type=between(0, 100), default=3.0, metavar="POINTS", help="to detect (default: 3)"),
    option("--videos", type=between(1, 1e7, int), metavar="N", help="test videos (default: those of the runs, or 56)"),
    several(
        "--trainings", type=between(1, 1000, int), default=TRAININGS, metavar="N", help="per model (default: 2 3 5 10)"
    ),
    option("--recall", type=between(0, 99.9), metavar="PERCENT", help="without runs: recall of both models"),
    option(
        "--spread", type=between(-1e-9, 50), default=2.0, metavar="POINTS", help="of recall over trainings (default: 2)"
    ),
    option("--queries-per-video", type=between(0, 1e6), default=6.0, metavar="N", help="(default: 6)"),
    option("--correlation", type=between(-1e-9, 1), default=0.2, help="of queries of one video (default: 0.2)"),
    option("--agreement", type=between(-1e-9, 1), default=0.3, help="of two trainings on a query (default: 0.3)"),
    option(
        "--related",
        type=between(-1e-9, 1),
        default=0.5,
        help="correlation of the two models' answers, averaged over trainings (default: 0.5)",
    ),
    JSON,
    example="verified power --recall 25 --spread 2 --videos 300",
    page="extensions/power/README.md",
)
def show_power(arguments: argparse.Namespace) -> None:
    """Print two tables. Raises InputError unless there are two runs or a guess."""
    from verified.io.text_tables import text_table
    from verified_power.power import POWER, detectable, guess, needed_trainings, needed_videos, trainings_bounds

    if bool(arguments.runs) == (arguments.recall is not None):
        raise InputError("give two runs, or a guess by --recall", remedy="verified power --help")
    if arguments.runs:
        spread, videos, freedom = _measured(arguments.runs, arguments.tested_on, arguments.metric)
    else:
        shares = arguments.recall / 100, arguments.spread / 100
        spread = guess(
            *shares, arguments.correlation, arguments.agreement, arguments.related, arguments.queries_per_video
        )
        videos, freedom = 56, None
    videos = arguments.videos or videos
    wished = arguments.difference / 100
    rows = []
    for trainings in sorted(set(arguments.trainings)):
        difference, needed = detectable(spread, videos, trainings), needed_videos(spread, wished, trainings)
        rows.append(
            {
                "trainings": trainings,
                "points": None if difference is None else round(100 * difference, 1),
                "videos": needed,
                "queries": None if needed is None else round(needed * spread.queries_per_video),
            }
        )
    enough = needed_trainings(spread, wished, videos)
    if arguments.json:
        document = {"test_videos": videos, "difference": arguments.difference, "power": POWER, "trainings": enough}
        print(json.dumps({**document, "rows": rows}))
        return
    print(
        f"Points: the smallest true difference that {videos} test videos of {spread.queries_per_video:.1f} queries each"
        f" tell (p < 0.05) in {POWER:.0%} of comparisons.\n"
        f"Videos, queries: what a true difference of {arguments.difference:g} points needs for the same.\n"
    )
    columns = ["trainings", "points", "videos", "queries"]
    print(text_table(columns, [{key: "none" if row[key] is None else row[key] for key in columns} for row in rows]))
    if any(row["videos"] is None for row in rows):
        print("none: no number is enough, the noise of so many trainings hides the difference.")
    print(
        f"With {videos} videos, {arguments.difference:g} points need {enough} trainings of each model."
        if enough
        else f"With {videos} videos, no number of trainings tells {arguments.difference:g} points."
    )
    if freedom:
        low, high = trainings_bounds(freedom)
        print(
            f"Few trainings show little of how trainings differ: by {low:.1f} to {high:.1f} times as much as these do."
        )


def _measured(runs: list[Path], tested_on: str, metrics: Sequence[str]) -> "tuple[Spread, int, int]":
    """Variances, test videos, and the degrees of freedom of the trainings."""
    import numpy as np

    from verified.benchmark.vcmr.results import PER_QUERY_FILE, read_per_query
    from verified_power.power import measure

    if len(runs) != 2:
        raise InputError(f"{len(runs)} runs", remedy="name two, such as results/NAME/DATASET/retrieval/xml/fig")
    read = []
    for run in runs:
        folders = sorted(file.parent for file in run.glob(f"seed-*/{tested_on}/{PER_QUERY_FILE}"))
        if not folders:
            raise InputError(f"no seed-*/{tested_on}/{PER_QUERY_FILE} in it", file=run, remedy="name a tested run")
        read.append(read_per_query(folders))
    first, second = read
    if not (np.array_equal(first.desc_id, second.desc_id) and np.array_equal(first.video, second.video)):
        raise InputError("was tested on other queries", file=runs[1], remedy=f"test it on those of {runs[0]}")
    common = sorted(set(first.values) & set(second.values))
    if len(metrics) > 1 or metrics[0] not in common:
        raise InputError(
            f"name one metric that both runs have, and not {' '.join(metrics)}", remedy=f"known: {', '.join(common)}"
        )
    values = first.values[metrics[0]], second.values[metrics[0]]
    return measure(*values, first.video), len(set(first.video)), sum(len(each) - 1 for each in values)
