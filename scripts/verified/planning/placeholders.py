"""Sources of the real sizes without a single frame, so that a plan of the whole paper needs no download.

Rows and videos per split are those of the paper's data sets: Charades-STA and DiDeMo as released, ActivityNet Captions
with the rows that ActivityNet-FIG keeps. Its val_1 and val_2 describe the same videos.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verified.common.errors import InputError
from verified.common.files import write_text
from verified.common.jsonl import write_jsonl
from verified.config import Config


class Split(NamedTuple):
    """`rows` moments spread evenly over `videos` videos, numbered from `first`."""

    name: str
    rows: int
    first: int
    videos: int


SIZES = {
    "charades-fig": (Split("train", 12408, 0, 5338), Split("test", 3720, 5338, 1334)),
    "didemo-fig": (
        Split("train", 32903, 0, 8392),
        Split("val", 4175, 8392, 1065),
        Split("test", 4013, 9457, 1004),
    ),
    "activitynet-fig": (
        Split("train", 37261, 0, 10009),
        Split("val_1", 17429, 10009, 4917),
        Split("val_2", 16966, 10009, 4885),
    ),
}
SECONDS = 30.0
"""Length that all moments of a video together pretend to have."""


def lay_out(config: Config, folder: Path) -> dict[str, tuple[int, int]]:
    """Write, below `folder`, empty files in the place of every source that `config` names; returns (moments, videos).

    Paths are the configuration's own, so that `snakemake -n --directory FOLDER` finds them. Nothing that exists is
    touched: raises InputError where a source is there already, or where a data set is none of the paper's.
    """
    found = {}
    sources = {
        name: dataset.source
        for name, dataset in config.datasets.items()
        if dataset.source.has_videos and not dataset.source.rendered
    }
    if not sources:
        raise InputError(
            "no data set of this configuration has a folder of videos", remedy="it can be planned as it is"
        )
    start = config.evaluator.checkpoint or config.evaluator.umt_file
    for name, source in sources.items():
        if name not in SIZES:
            raise InputError(f"the size of {name} is not known", remedy=f"known: {', '.join(SIZES)}")
        for path in (source.videos, source.moments, *filter(None, [start])):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise InputError("placeholders need a relative path", file=path)
            if (folder / path).exists():
                raise InputError("stands there already and is left alone", file=folder / path)
    for name, source in sources.items():
        videos = folder / source.videos
        videos.mkdir(parents=True)
        names = {_video(place) for split in SIZES[name] for place in range(split.first, split.first + split.videos)}
        for video in names:
            (videos / f"{video}.mp4").touch()
        found[name] = (write_jsonl(folder / source.moments, _moments(SIZES[name])), len(names))
    if start:
        write_text(folder / start, "")
    return found


def _moments(splits: tuple[Split, ...]) -> Iterator[dict]:
    for split in splits:
        for row in range(split.rows):
            place, turn = row % split.videos, row // split.videos
            step = SECONDS / (split.rows // split.videos + 1)
            yield {
                "video": _video(split.first + place),
                "start": round(turn * step, 3),
                "end": round((turn + 1) * step, 3),
                "split": split.name,
                "caption": f"placeholder {row} of {split.name}",
            }


def _video(place: int) -> str:
    return f"v{place:06d}"
