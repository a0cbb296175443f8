"""Reuse a shard's previous output for videos that did not change.

Snakemake removes the output of a job before it makes it again. So a job that decodes videos leaves a second name of its
output in the folder `.earlier` beside it (a hard link, which takes no space while both are there), and lists its
contents in `.earlier/NAME.json`, by the content of each video. The next job reuses results of the same code, settings
and packages for the same videos, and computes the rest; its output has the same bytes either way. One earlier state of
each shard is kept, and the folder may be removed at any time. Damaged or incomplete states are ignored.
"""

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from verified.io.files import file_digest, read_record, write_record
from verified.runtime.project import versions

FOLDER = ".earlier"
MOVING = ("shards", "rows", "videos", "threads")
"""Job parameters that select videos or set the speed, and do not affect the result of a video."""

log = logging.getLogger("verified")


def made_with(params: Mapping[str, Any], *packages: str, **others: object) -> str:
    """Digest of all that affects a job's result for a video: its parameters, installed packages, and `others`."""
    decided_by = {name: value for name, value in params.items() if name not in MOVING}
    text = json.dumps([decided_by, others, versions(*packages)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class PreviousOutput:
    """The earlier state of `output`, which a job is about to write.

    `videos` holds the notes on each video, by a key of its writer that contains the video's SHA-256; `file` is the
    earlier output, None if no video is known or only notes exist. Without `maker` (see `made_with`), nothing is reused
    or kept.
    """

    def __init__(self, output: str | os.PathLike[str], maker: str = ""):
        self.output, self.maker = Path(output), maker
        self._link = self.output.parent / FOLDER / self.output.name
        self._note = self._link.with_name(f"{self.output.name}.json")
        self.file: Path | None = None
        self.videos: dict[str, Any] = self._read() if maker else {}

    def _read(self) -> dict[str, Any]:
        try:
            note = read_record(self._note)
            if note["made_with"] != self.maker:
                return {}
            if note["sha256"] and file_digest(self._link) != note["sha256"]:
                raise ValueError("it is not as it was written")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("%s is not used, all videos are looked at again: %s", self._note, error)
            return {}
        self.file = self._link if note["sha256"] else None
        return note["videos"]

    def reusable(self, keys: Iterable[str]) -> set[str]:
        """The `keys` of videos that the previous output has; logs their number."""
        digests = list(keys)
        hits = self.videos.keys() & set(digests)
        if hits:
            count = sum(key in hits for key in digests)
            log.info("%d of %d videos are taken as they were made before: %s", count, len(digests), self._note)
        return hits

    def keep(self, videos: Mapping[str, Any], link: bool = True) -> None:
        """Keep the current output for the next job, with notes on each video by its key.

        Without `link` only the notes are kept. On a file system without hard links nothing is kept. The earlier state
        is removed.
        """
        self._note.unlink(missing_ok=True)  # first: a kill after this leaves a link without a note, which is ignored
        self._link.unlink(missing_ok=True)
        if not self.maker:
            return
        digest = None
        if link:
            try:
                self._link.parent.mkdir(parents=True, exist_ok=True)
                self._link.hardlink_to(self.output)
            except OSError as error:
                log.info("the next job of this shard will look at all its videos again: %s", error)
                return
            digest = file_digest(self._link)
        write_record(self._note, {"made_with": self.maker, "sha256": digest, "videos": videos})
