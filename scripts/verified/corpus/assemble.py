"""From a source with videos to the files of the corpus stage."""

import functools
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from verified.corpus.folder_source import Probes, Reading, moment_key, read_shard, shard_moments
from verified.corpus.splits import HELD_OUT, NO_COPIES, divide, draw_selection_videos, is_held_out
from verified.io.jsonl import iterate_jsonl, write_json, write_jsonl
from verified.io.video import VideoError
from verified.runtime.previous_output import PreviousOutput

log = logging.getLogger("verified")


def write_shard(
    source: dict, files: dict[str, str], shard: str, shards: int, output: dict[str, str], maker: str = ""
) -> None:
    """Probe the videos of one shard and write its `moments`, `videos` and `probes` to the paths of `output`.

    `source` and `files` are those of `shard_moments`. The moments lack the key `split`: a shard's jobs do not depend on
    it, so a changed split re-runs none. With a `maker`, videos that it probed before are not decoded again (see
    `runtime.previous_output`).
    """
    earlier = PreviousOutput(output["probes"], maker)
    moments, videos, probes = read_shard(shard_moments(files, source, shard, shards), earlier=earlier.videos)
    write_jsonl(output["moments"], ({k: v for k, v in row.items() if k != "split"} for row in moments))
    write_jsonl(output["videos"], videos)
    readable = ({"video": video, "probe": row} for video, row in probes.readable.items())
    unreadable = (
        {"video": video, "reason": error.reason, "path": error.path, "detail": error.detail}
        for video, error in probes.unreadable.items()
    )
    write_jsonl(output["probes"], (*readable, *unreadable))
    earlier.keep({row["sha256"]: row for row in probes.readable.values()}, link=False)


def read_probes(files: Iterable[str]) -> Probes:
    """The probes that `write_shard` wrote, of all shards."""
    probes = Probes({}, {}, judged := {})
    for row in (row for file in files for row in iterate_jsonl(file, ("video",))):
        if "probe" in row:
            probes.readable[row["video"]] = row["probe"]
        elif "start" in row:
            judged[moment_key(row)] = row
        else:
            probes.unreadable[row["video"]] = VideoError(row["reason"], row["path"], row["detail"])
    return probes


def write_corpus(
    corpus: Reading, splits: dict, folder: str | os.PathLike, copies: Mapping[str, str] = NO_COPIES
) -> None:
    """Write moments, videos, exclusions and counts below `folder`, with a held-out split if `splits` asks for one.

    `splits` holds `train_split`, `selection_split`, `test_split` and `held_out_share` of the section `spans`, and
    `division` if no row names a split (see `corpus.splits`, also on `copies`). If no row is in the selection split,
    videos of the train split are held out for it: the moments are then written twice.
    """
    folder = Path(folder)
    file, train_split, selection_split = folder / "moments.jsonl", splits["train_split"], splits["selection_split"]
    sizes: Counter[str] = Counter()
    to_train: set[str] = set()

    def move(moments: Iterable[dict], moves: Callable[[str], bool], split: str) -> Iterator[dict]:
        """The moments as they pass, those of the train split to `split` if their video `moves`; counted by split."""
        sizes.clear()
        for moment in moments:
            if moment["split"] == train_split and moves(moment["video"]):
                moment = {**moment, "split": split}
            sizes[moment["split"]] += 1
            if moment["split"] == train_split:
                to_train.add(moment["video"])
            yield moment

    moments: Iterable[dict] = corpus.moments()
    if shares := splits.get("division"):
        write_jsonl(file, moments)
        split_of = divide({row["video"] for row in iterate_jsonl(file)}, splits, shares, copies)
        counted = Counter(split_of[row["video"]] for row in iterate_jsonl(file))
        log.warning(
            "warning: no row names a split: whole videos are divided by the seed into %s"
            " (give rows a split, or the source a default_split)",
            ", ".join(f"{split} {count}" for split, count in sorted(counted.items())),
        )
        moments = ({**row, "split": split_of[row["video"]]} for row in iterate_jsonl(file))
    held_out = functools.partial(is_held_out, share=splits["held_out_share"])
    write_jsonl(file, move(moments, held_out, HELD_OUT))
    if selection_split not in sizes and (chosen := draw_selection_videos(to_train)):
        write_jsonl(file, move(iterate_jsonl(file), chosen.__contains__, selection_split))
        log.warning(
            "warning: no moment is in the split %r: %d of %r are held out for it, with their videos"
            " (spans.held_out_share holds out another share, spans.selection_split names another split)",
            selection_split,
            sizes[selection_split],
            train_split,
        )
    for role in ("train_split", "selection_split", "test_split"):
        if splits[role] not in sizes:
            log.warning("warning: no moment is in the split %r (spans.%s)", splits[role], role)
    counts: dict[str, Any] = corpus.counts() | {"splits": dict(sorted(sizes.items()))}
    write_jsonl(folder / "videos.jsonl", corpus.videos())
    write_jsonl(folder / "exclusions.jsonl", corpus.exclusions())
    write_json(folder / "counts.json", counts)
    log.info(
        "%d of %d rows are moments, in %d of %d videos; exclusions are listed with their reason in %s",
        counts["moments"],
        counts["rows"],
        counts["videos"],
        counts["videos_found"],
        folder / "exclusions.jsonl",
    )
    for split, split_counts in counts.get("published", {}).items():
        log.info(
            "published split %s: %d of %d videos and %d of %d moments are available",
            split,
            split_counts["videos_at_hand"],
            split_counts["videos"],
            split_counts["moments_at_hand"],
            split_counts["moments"],
        )
