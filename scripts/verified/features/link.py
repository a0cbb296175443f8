"""One file of video features for a data set: external links into its shards."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from verified.io.files import file_digest
from verified.io.hdf5 import link_features

log = logging.getLogger("verified")


def link_video_features(
    shards: Iterable[str | os.PathLike], videos: str | os.PathLike, output: str | os.PathLike
) -> int:
    """Write the file of links, with the SHA-256 of videos.jsonl as `source_sha256`; returns how many videos it has.

    Raises InputError for shards that do not fit together.
    """
    count = link_features(output, shards, {"source_sha256": file_digest(videos)})
    log.info("video features: %d videos in %s", count, Path(output).name)
    return count
