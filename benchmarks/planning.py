"""What comes before the work on a large corpus: a start of Snakemake, the rows of one shard's job, a quote.

    python benchmarks/planning.py                                              # five minutes
    python benchmarks/planning.py --videos 200000 --shards 500 --turns 1       # ten times the paper

Videos are empty files and have 6.5 moments each. A start is a dry run in an interpreter of its own, from its start to
its end: the first one samples every video and reads every row, a later one looks at sizes and times only, and the limit
is Snakemake with as many jobs and one video. A job of `probe_videos` takes its shard's rows from the division that the
first job made. A quote is of at most 2,000 videos. Starts tell their peak memory on standard error.
"""

import contextlib
import json
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from sides import Row, Side, asked, compare, interpreter_seconds, side

PROJECT = Path(__file__).resolve().parents[1]
PER_VIDEO = 6.5
SOURCE = {"default_split": "test", "published": False}
FILES = {"videos": "videos", "moments": "moments.jsonl"}
SETTLED = 2.5
"""Seconds after which a start believes the times of files."""


def main() -> None:
    options = asked(__doc__, videos=20000, shards=50)
    videos, shards = (24, 2) if options.tiny else (options.videos, options.shards)
    with tempfile.TemporaryDirectory() as folder:
        many, few, one = (Path(folder, name) for name in ("many", "few", "one"))
        moments = lay_out(many, videos, shards)
        quoted = lay_out(few, min(videos, 2000), shards)
        lay_out(one, 1, shards)
        time.sleep(0 if options.tiny else SETTLED)
        rows = [] if options.tiny else start_rows(many, one, videos)
        with contextlib.chdir(folder):  # where there is no ledger
            compare(options.turns, *rows, job_row(many, moments, shards), quote_row(few, quoted, shards))


def lay_out(folder: Path, videos: int, shards: int) -> int:
    """Empty videos, a moments file and a configuration; how many moments."""
    (folder / "videos").mkdir(parents=True)
    for number in range(videos):
        (folder / "videos" / f"video{number:06d}.mp4").touch()
    moments = int(videos * PER_VIDEO)
    with (folder / FILES["moments"]).open("w", encoding="utf-8") as out:
        for number in range(moments):
            caption = f"a person walks over to the table and picks up the cup number {number} before leaving"
            row = {"video": f"video{number % videos:06d}", "start": 1.5, "end": 9.25, "caption": caption}
            out.write(json.dumps({**row, "desc_id": number, "split": "train"}) + "\n")
    (folder / "config.json").write_text(json.dumps(configuration(shards)), encoding="utf-8")
    return moments


def configuration(shards: int, folder: Path = Path()) -> dict:
    """One data set from a folder."""
    source = {"kind": "folder", **{name: str(folder / path) for name, path in FILES.items()}}
    return {"name": "many", "seed": 1, "shards": shards, "datasets": {"many": {"title": "Many", "source": source}}}


def start_rows(many: Path, one: Path, videos: int) -> list[Row]:
    """A start, for the first time and later, and of as many jobs for one video."""
    start_seconds(many, True)  # so that the first turn's later start is one
    first = Side("a first start", partial(start_seconds, many, True), videos)
    later = Side("a later start", partial(start_seconds, many, False), videos)
    limit = Side("as many jobs of one video", partial(start_seconds, one, False), videos)
    return [Row(f"a later start, {videos:,} videos", "videos", later, first, limit)]


def start_seconds(folder: Path, first: bool) -> float:
    """Seconds of a dry run in `folder`, of a process that knows nothing of earlier ones if it is to be the `first`."""
    for known in (folder / ".snakemake").glob("verified-*.json") if first else ():
        known.unlink()
    options = ("--dry-run", "--quiet", "all", "--cores", "1", "--workflow-profile", "none")
    files = ("--snakefile", str(PROJECT / "Snakefile"), "--configfile", "config.json")
    with contextlib.chdir(folder):
        seconds, _ = interpreter_seconds("-m", "snakemake", *options, *files)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"  {'first' if first else 'later'} start of {folder.name}: {peak} MB so far", file=sys.stderr, flush=True)
    return seconds


def job_row(folder: Path, moments: int, shards: int) -> Row:
    """Reading the rows of one shard."""
    from verified.corpus.folder_source import shard_moments
    from verified.runtime.wildcards import shard_name

    files = {name: str(folder / path) for name, path in FILES.items()}
    own = side("ours", lambda: shard_moments(files, SOURCE, shard_name(0), shards), 1)
    return Row(f"rows of a job, one of {shards} shards of {moments:,} rows", "jobs", own)


def quote_row(folder: Path, moments: int, shards: int) -> Row:
    """A quote of all calls, none of which was made."""
    from verified.config import load
    from verified.planning.quote import quote

    settings = load(configuration(shards, folder))
    calls = sum(row["calls"] for row in quote(settings))
    return Row(f"`verified quote` of {moments:,} moments", "calls", side("ours", lambda: quote(settings), calls))


if __name__ == "__main__":
    sys.exit(main())
