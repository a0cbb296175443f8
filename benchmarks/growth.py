"""What a hundred, a thousand, ten and a hundred thousand videos cost, and one more of them.

    python benchmarks/growth.py                                    # the table; needs 4 GB
    python benchmarks/growth.py --picture docs/growth.png          # and its picture
    python benchmarks/growth.py --videos 100 1000                  # smaller

Videos are made up, have 6.5 moments each and are 400 to a shard. A start is a dry run of everything, in an interpreter
of its own. The index of a run holds 3 to 16 clips a video, of 16 numbers each, and asks 50 known queries. That of a
folder of videos begins where each has been looked at, which costs a multiple of it. Of a report, the caption browser's
page is what grows, here with six captions a moment. "One more" is the same work again after a video has come.

Seconds are of the processor; memory is the peak of a process that does nothing else. An exponent is the slope between
the two largest sizes, log against log: 0 does not grow, 1 grows as the corpus does. Fixed costs hide growth where sizes
are small, so the smaller ones have no part in it.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pages
import planning
from sides import figure, interpreter_seconds

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))
SIZES = (100, 1000, 10_000, 100_000)
PER_SHARD, QUERIES, TEXTS = 400, 50, 500
ONE_MORE = "one more"
LARGEST = {"index": 10_000, "folder": 10_000}
"""Most videos of a kind of work that takes ten minutes for more; `--largest` lifts this."""


class Cost(NamedTuple):
    """What a piece of work took."""

    seconds: float
    """Of the processor."""
    mb: float
    """Peak memory of its process."""
    jobs: int = 0
    """Jobs that a start plans; 0 of any other work."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", nargs="+", type=int, default=list(SIZES), help="from few to many")
    parser.add_argument("--only", nargs="+", choices=list(WORKS), default=list(WORKS), metavar="WORK")
    parser.add_argument("--picture", type=Path, help="draw what was measured there")
    parser.add_argument("--largest", action="store_true", help="all sizes of all work, for another twenty minutes")
    parser.add_argument("--turns", type=int, help="each is done once, whatever this says")
    parser.add_argument("--tiny", action="store_true", help="sizes that say nothing, to see that the benchmark runs")
    parser.add_argument("--do", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.do:
        work, folder, videos = options.do
        return do(PIECES[work], Path(folder), int(videos))
    sizes, works = options.videos, options.only
    if options.tiny:  # the others plan, or load libraries, for seconds whatever the size
        sizes, works = [12, 24], ["rows", "pages"]
    print(head(sizes), flush=True)
    costs: dict[str, dict[int, Cost]] = {}
    for work in works:
        found: dict[str, dict[int, Cost]] = {}
        for videos in (size for size in sizes if options.largest or size <= LARGEST.get(work, size)):
            with tempfile.TemporaryDirectory() as folder:
                for name, cost in WORKS[work](Path(folder), videos).items():
                    found.setdefault(name, {})[videos] = cost
                    print(f"  {name}, {videos:,} videos: {cost}", file=sys.stderr, flush=True)
        for name, by_size in found.items():
            print(row(name, by_size, sizes), flush=True)
        costs |= found
    if options.picture:
        draw(costs, options.picture)


def head(sizes: list[int]) -> str:
    """The table's head."""
    cells = ["seconds, of videos:", *(f"{size:,}" for size in sizes), "exponent", "MB of the most", "exponent"]
    return f"| {' | '.join(cells)} |\n{'|---' * len(cells)}|"


def row(name: str, by_size: dict[int, Cost], sizes: list[int]) -> str:
    """A line of the table."""
    seconds = [figure(by_size[size].seconds) if size in by_size else "–" for size in sizes]
    most = figure(by_size[max(by_size)].mb)
    return f"| {' | '.join([name, *seconds, exponent(by_size, 'seconds'), most, exponent(by_size, 'mb')])} |"


def exponent(by_size: dict[int, Cost], what: str) -> str:
    """The slope between the two largest sizes, log against log."""
    (small, less), (large, more) = list(by_size.items())[-2:]
    return f"{math.log(getattr(more, what) / getattr(less, what)) / math.log(large / small):.2f}"


def starts(folder: Path, videos: int) -> dict[str, Cost]:
    """The first start, a later one, and one after a video came to a corpus of which all was built."""
    shards = max(1, videos // PER_SHARD)
    planning.lay_out(folder, videos, shards)
    time.sleep(planning.SETTLED)
    found = {"first start": started(folder), "later start": started(folder)}
    call_built(folder)
    time.sleep(planning.SETTLED)
    if (nothing := started(folder)).jobs:
        sys.exit(f"{nothing.jobs} jobs are planned where all counts as built")
    (folder / "videos" / "one-more.mp4").write_bytes(b"new")
    with (folder / planning.FILES["moments"]).open("a", encoding="utf-8") as out:
        added = {"video": "one-more", "start": 1.5, "end": 9.25, "caption": "one more", "desc_id": 10**9}
        out.write(json.dumps({**added, "split": "train"}) + "\n")
    return {**found, f"start after {ONE_MORE}": started(folder)}


def started(folder: Path) -> Cost:
    """A dry run of everything in a folder."""
    seconds, printed = interpreter_seconds(planning.__file__, "--start", str(folder))
    planned = re.search(r"^total +(\d+)$", (folder / "said.txt").read_text(), re.MULTILINE)
    return Cost(seconds, int(printed.split()[0]), int(planned[1]) if planned else 0)


def call_built(folder: Path) -> None:
    """Lay out every file of a run empty, and have Snakemake record it as finished."""

    def snakemake(*options: str) -> str:
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--cores", "1"]
        command += ["--workflow-profile", "none", "--configfile", "config.json", *options, "results/tables"]
        run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.stdout if not run.returncode else sys.exit(run.stdout[-3000:])

    for path in re.findall(r"^(results/\S+)\t", snakemake("--summary"), re.MULTILINE):
        if path.endswith("/tables"):
            (folder / path).mkdir(parents=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
    snakemake("--touch", "--forceall")


def rows_of_shards(folder: Path, videos: int) -> dict[str, Cost]:
    """The rows divided among shards, and those of one shard's job."""
    planning.lay_out(folder, videos, 1)
    time.sleep(planning.SETTLED)
    return {"rows divided among shards": done("divide", folder, videos), "rows of one job": done("own", folder, videos)}


def own_rows(folder: Path, videos: int) -> None:
    from verified.corpus.divided_rows import read_own_rows

    files = {name: str(folder / path) for name, path in planning.FILES.items()}
    read_own_rows(planning.SOURCE, files, 0, max(1, videos // PER_SHARD), folder / "shards")


def index_of_run(folder: Path, videos: int) -> dict[str, Cost]:
    """The index of a run's videos."""
    lay_out_index(folder, videos)
    whole = done("index", folder, videos)
    lay_out_index(folder, videos + 1)
    return {"index of a run": whole, f"{ONE_MORE} in it": done("index", folder, videos)}


def lay_out_index(folder: Path, videos: int) -> None:
    """Features and annotations of a corpus; captions repeat, as vectors of different ones are computed once each."""
    from small_index import random_videos, write_corpus

    from verified.io.jsonl import read_jsonl, write_jsonl

    _, settings = write_corpus(folder, random_videos(videos))
    (folder / "settings.json").write_text(settings.model_dump_json())
    annotated = folder / "test.jsonl"
    rows = [
        {**row, "cog_desc": f"thing {number % TEXTS} moves", "fig_desc": f"a red thing, number {number % TEXTS}, moves"}
        for number, row in enumerate(read_jsonl(annotated))
    ]
    write_jsonl(annotated, rows)
    write_jsonl(folder / "queries.jsonl", rows[:QUERIES])


def update_index(folder: Path, videos: int) -> None:
    from verified.search.settings import IndexSettings
    from verified.search.update import update

    files = {
        "features": "video.h5",
        "checkpoint": "checkpoint.safetensors",
        "text": "text.h5",
        "videos": "videos.jsonl",
    }
    lists = {"annotations": [folder / "test.jsonl"], "queries": [folder / "queries.jsonl"]}
    settings = IndexSettings.model_validate_json((folder / "settings.json").read_text())
    update(folder / "index", {**{name: folder / file for name, file in files.items()}, **lists}, settings)


def index_of_folder(folder: Path, videos: int) -> dict[str, Cost]:
    """The index of a folder of videos and nothing else."""
    (folder / "videos").mkdir()
    for number in range(videos):
        (folder / "videos" / f"video{number:06d}.mp4").write_bytes(b"%d" % number)
    whole = done("folder", folder, videos)
    (folder / "videos" / "one-more.mp4").write_bytes(b"-1")
    return {"index of a folder": whole, f"{ONE_MORE} in its folder": done("folder", folder, videos)}


def index_folder(folder: Path, videos: int) -> None:
    import numpy as np

    from verified.search.folder import index_videos
    from verified.search.survey import Survey

    def made_up(path: Path, backbone: object) -> Survey:
        """Three shots, 6 clips; every hundredth video is a copy of the one before."""
        number = int(path.read_bytes())
        draw = np.random.default_rng([7, number - (number % 100 == 1) + 1])
        clips = [draw.standard_normal((2, 1280), np.float32) for _ in range(3)]
        return Survey(12.0, [(0.0, 4.0), (4.0, 8.0), (8.0, 12.0)], clips, [(1.0, b"\xff\xd8")], 0)

    with patch("verified.search.folder.survey", made_up):
        index_videos(folder / "videos", folder / "index")


def report_pages(folder: Path, videos: int) -> dict[str, Cost]:
    """The caption browser's page, which is where a report grows."""
    return {"page of all captions": done("browser", folder, videos)}


def write_page(folder: Path, videos: int) -> None:
    from verified.report.captions import write_browser

    about = {"title": "Captions", "about": "", "foot": ""}
    write_browser(folder / "captions.html", folder / "parts", about, pages.moments(pages.PER_VIDEO * videos))


WORKS: dict[str, Callable[[Path, int], dict[str, Cost]]] = {
    "start": starts,
    "rows": rows_of_shards,
    "index": index_of_run,
    "folder": index_of_folder,
    "pages": report_pages,
}
"""Kind of work → what measures it in an empty folder, for so many videos."""
PIECES: dict[str, Callable[[Path, int], None]] = {
    "divide": own_rows,
    "own": own_rows,
    "index": update_index,
    "folder": index_folder,
    "browser": write_page,
}
"""Work that is measured in a process of its own."""


def done(piece: str, folder: Path, videos: int) -> Cost:
    """A piece of work in a process that does nothing else."""
    _, printed = interpreter_seconds(__file__, "--do", piece, str(folder), str(videos))
    return Cost(*json.loads(printed.splitlines()[-1]))


def do(work: Callable[[Path, int], None], folder: Path, videos: int) -> None:
    """Do it, and print seconds and megabytes; what is imported on the way counts as well."""
    began = time.process_time()
    work(folder, videos)
    print(json.dumps([time.process_time() - began, planning.peak_mb()]))


def draw(costs: dict[str, dict[int, Cost]], picture: Path) -> None:
    """Seconds and memory over videos, log against log, each line named with its exponent at its end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    for axes, what, unit in zip(figure.subplots(1, 2), ("seconds", "mb"), ("seconds of the processor", "MB at most")):
        for name, by_size in costs.items():
            label = f"{name}, {exponent(by_size, what)}"
            axes.loglog(list(by_size), [getattr(cost, what) for cost in by_size.values()], "o-", ms=3, label=label)
        sizes = sorted({size for by_size in costs.values() for size in by_size})
        top = max(getattr(cost, what) for by_size in costs.values() for cost in by_size.values())
        axes.loglog(sizes, [top * size / sizes[-1] for size in sizes], "--", color="0.6", label="linear, 1.00")
        axes.set(xlabel="videos", ylabel=unit)
        axes.set_ylim(bottom=min(getattr(cost, what) for by_size in costs.values() for cost in by_size.values()) / 2)
        axes.legend(title="exponent of the last step", fontsize=7, title_fontsize=7, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
