"""From a source with videos to the files of the corpus stage."""

import logging
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from verified.common.jsonl import read_jsonl, write_json, write_jsonl
from verified.common.shards import shard_index
from verified.common.video import VideoError
from verified.corpus.division import divide
from verified.corpus.folder_source import Corpus, Probes, read_folder, read_shard
from verified.corpus.held_out import hold_out, hold_out_unasked

log = logging.getLogger("verified")


def read_source(source: dict, files: dict[str, str], threads: int = 1, probes: Probes | None = None) -> Corpus:
    """Read a source with videos from its files, `videos` and `moments` (see rules/corpus.smk).

    `source` has its `default_split`, and whether its videos go by `published` names.
    """
    return read_folder(files["videos"], files["moments"], source["default_split"], threads, probes, source["published"])


def write_shard(source: dict, files: dict[str, str], shard: str, shards: int, output: dict[str, str]) -> None:
    """Probe the videos of one shard and write its `moments`, `videos` and `probes` to the paths of `output`.

    The moments lack the key `split`: what a shard's jobs do does not depend on it, so a changed split re-runs none.
    """
    read = read_shard(
        files["videos"],
        files["moments"],
        source["default_split"],
        shard_index(shard),
        shards,
        published=source["published"],
    )
    write_jsonl(output["moments"], ({k: v for k, v in row.items() if k != "split"} for row in read.moments))
    write_jsonl(output["videos"], read.videos)
    readable = ({"video": video, "probe": row} for video, row in read.probes.readable.items())
    unreadable = (
        {"video": video, "reason": error.reason, "path": error.path, "detail": error.detail}
        for video, error in read.probes.unreadable.items()
    )
    write_jsonl(output["probes"], (*readable, *unreadable))


def read_probes(files: Iterable[str]) -> Probes:
    """The probes that `write_shard` wrote, of all shards."""
    rows = [row for file in files for row in read_jsonl(file, ("video",))]
    return Probes(
        {row["video"]: row["probe"] for row in rows if "probe" in row},
        {row["video"]: VideoError(row["reason"], row["path"], row["detail"]) for row in rows if "probe" not in row},
    )


def write_corpus(corpus: Corpus, splits: dict, folder: str | os.PathLike) -> None:
    """Write moments, videos, exclusions and counts below `folder`, with a held-out split where `splits` asks for one.

    `splits` holds `train_split`, `selection_split`, `test_split` and `held_out_share` of the section `spans`, and
    `division` where no row names a split (see `corpus.division`). Where no row is in the selection split, videos of the
    train split are held out for it.
    """
    folder = Path(folder)
    moments = corpus.moments
    if shares := splits.get("division"):
        moments = divide(moments, splits, shares)
        counted = Counter(row["split"] for row in moments)
        log.warning(
            "warning: no row names a split: whole videos are divided by the seed into %s"
            " (give rows a split, or the source a default_split)",
            ", ".join(f"{split} {count}" for split, count in sorted(counted.items())),
        )
    moments = hold_out(moments, splits["train_split"], splits["held_out_share"])
    sizes = Counter(row["split"] for row in moments)
    if splits["selection_split"] not in sizes:
        moments = hold_out_unasked(moments, splits["train_split"], splits["selection_split"])
        sizes = Counter(row["split"] for row in moments)
        if splits["selection_split"] in sizes:
            log.warning(
                "warning: no moment is in the split %r: %d of %r are held out for it, with their videos"
                " (spans.held_out_share holds out another share, spans.selection_split names another split)",
                splits["selection_split"],
                sizes[splits["selection_split"]],
                splits["train_split"],
            )
    for role in ("train_split", "selection_split", "test_split"):
        if splits[role] not in sizes:
            log.warning("warning: no moment is in the split %r (spans.%s)", splits[role], role)
    write_jsonl(folder / "moments.jsonl", moments)
    write_jsonl(folder / "videos.jsonl", corpus.videos)
    write_jsonl(folder / "exclusions.jsonl", corpus.exclusions)
    write_json(folder / "counts.json", corpus.counts | {"splits": dict(sorted(sizes.items()))})
    counts = corpus.counts
    log.info(
        "%d of %d rows are moments, in %d of %d videos; what is left out is listed with its reason in %s",
        len(moments),
        counts["rows"],
        counts["videos"],
        counts["videos_found"],
        folder / "exclusions.jsonl",
    )
    for split, split_counts in counts.get("published", {}).items():
        log.info(
            "published split %s: %d of %d videos and %d of %d moments are at hand",
            split,
            split_counts["videos_at_hand"],
            split_counts["videos"],
            split_counts["moments_at_hand"],
            split_counts["moments"],
        )
