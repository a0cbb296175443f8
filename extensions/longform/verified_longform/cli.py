"""Long videos: described sound tracks, and scores at chance."""

import argparse

from verified.cli.command import between, command, folder, option, output
from verified_longform.form import TIMES, recalls

DAY = 86_400
"""Seconds; no movie is longer."""
ALIGNMENT = (
    option("--rate", type=between(99, 1_000_000, int), default=4000, help="samples per second (default: 4000)"),
    option("--window", type=between(0, DAY), default=60.0, help="seconds of each of the twenty windows (default: 60)"),
    option("--most", type=between(0, DAY), default=120.0, help="largest delay in seconds (default: 120)"),
)


@command(
    "longform align",
    "delay of a described track against a movie's track",
    folder("movie", "a file with the movie's own sound track"),
    folder("described", "a file with the sound track that holds the audio description"),
    *ALIGNMENT,
)
def align(arguments: argparse.Namespace) -> int:
    """Print the delay in each window, and in all; 1 where they do not agree."""
    from verified.io.sound import read_track
    from verified_longform.alignment import align_tracks

    movie, described = (read_track(path, arguments.rate) for path in (arguments.movie, arguments.described))
    alignment = align_tracks(movie, described, arguments.rate, arguments.window, arguments.most)
    for number, (delay, peak) in enumerate(zip(alignment.delays, alignment.peaks), start=1):
        print(f"window {number:2}: {delay:+.3f} s, correlation {peak:.2f}")
    print(
        f"refused: {alignment.reason}"
        if alignment.delay is None
        else f"the description is {alignment.delay:+.4f} s late"
    )
    return 1 if alignment.delay is None else 0


@command(
    "longform collect",
    "movies with described tracks to annotations in MAD's JSON",
    folder("manifest", "CSV: movie, track, described, transcript, subtitles, split"),
    output("folder for SPLIT.json and report.json", required=True, metavar="FOLDER"),
    option("--pause", type=between(0, DAY), default=1.5, help="seconds of silence that end a sentence (default: 1.5)"),
    *ALIGNMENT,
)
def collect_movies(arguments: argparse.Namespace) -> None:
    """Write annotations of movies that can be read and aligned, and a report of all; finished movies are skipped."""
    from verified.io.jsonl import write_json
    from verified_longform.annotations import write_mad
    from verified_longform.collection import collect
    from verified_longform.config import Collection
    from verified_longform.manifest import read_manifest, summarise_reports

    settings = Collection(
        rate=arguments.rate,
        window_seconds=arguments.window,
        most_seconds=arguments.most,
        pause_seconds=arguments.pause,
    )
    rows, reports = collect(read_manifest(arguments.manifest), settings, arguments.output / "parts")
    for split, split_rows in rows.items():
        path = arguments.output / f"{split}.json"
        print(f"{path}: {write_mad(path, split_rows)} sentences")
    write_json(arguments.output / "report.json", reports)
    summary = summarise_reports(reports)
    print(
        f"{summary['collected']} of {summary['movies']} movies collected,"
        f" {summary['without_subtitles']} of them without subtitles"
    )
    for movie, reason in summary["left_out"].items():
        print(f"{movie} is left out: {reason}")


@command(
    "longform chance",
    "Oracle and Random Chance of annotations, from their times alone",
    folder("truth", "annotations in MAD's JSON"),
    TIMES,
    option("--seconds", type=between(0, DAY), help="cut movies into segments of this length"),
    option(
        "--tail",
        choices=("drop", "cover"),
        default="drop",
        help="end of a movie: left out as published (default: drop), or covered by one more window",
    ),
    option("--fps", type=between(0, 1000), default=5.0, help="frames per second (default: 5)"),
    option("--window", type=between(1, 1_000_000, int), default=128, help="frames of a window (default: 128)"),
    option("--clips", type=between(1, 1000, int), default=64, help="clips of a window (default: 64)"),
)
def chance(arguments: argparse.Namespace) -> None:
    """Print the recall of both, and the moments without a proposal. Raises InputError for a window without a clip."""
    from verified.errors import InputError
    from verified_longform.annotations import check_rows, read_mad
    from verified_longform.config import GridSettings
    from verified_longform.grid import Grid
    from verified_longform.ranking import baselines, cut_movies

    rows, _, counts = check_rows(read_mad(arguments.truth, "test", arguments.times or "ext_timestamps"))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if not rows:
        return
    cut = cut_movies(rows, arguments.seconds)
    given = {name: getattr(arguments, name) for name in ("fps", "window", "clips", "tail")}
    try:
        grid = Grid(**GridSettings(**given).model_dump())
    except ValueError as error:
        message = f"a window of {arguments.window} frames cannot be read as {arguments.clips} clips"
        raise InputError(message, remedy="half a window holds whole clips, such as 64 frames and 32 clips") from error
    measured = baselines(cut, grid, "gt", 100, 0)
    print("Oracle\n" + recalls(measured["oracle"]))
    print("Random Chance (expectation)\n" + recalls(measured["chance"]))
    print(
        f"not covered at ends: {measured['tail']['seconds']:.1f} s of {measured['tail']['videos']} videos,"
        f" {measured['tail']['without_windows']} without a proposal"
    )
