"""What a shard's job made of each video, for the shard's next job: a corpus that grows costs what was added to it.

Snakemake removes the output of a job before it makes it again. So a job that decodes videos leaves a second name of its
output beside it, `.NAME.earlier` (a hard link, which takes no space while both are there), and notes in
`.NAME.earlier.json` what is in it, by the content of each video. The next job takes what the same code, settings and
packages made of the same videos, and makes the rest; its output has the same bytes as without. One earlier state of
each shard is held, and may be removed at any time. What is damaged, or was broken off, is not used.
"""

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from verified.io.files import file_digest, write_text
from verified.runtime.commit import versions

LINK, NOTE = ".earlier", ".earlier.json"
MOVING = ("shards", "rows", "videos", "threads")
"""Parameters of jobs that say which videos are theirs, or how fast they go, and nothing about what is made of one."""

log = logging.getLogger("verified")


def made_with(params: Mapping[str, Any], *packages: str, **others: object) -> str:
    """A digest of all that decides what a job makes of a video: its parameters, installed packages, and `others`."""
    decided_by = {name: value for name, value in params.items() if name not in MOVING}
    text = json.dumps([decided_by, others, versions(*packages)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Earlier:
    """The earlier state of `output`, which a job is about to write.

    `videos` holds what was noted of each video, by a key that its writer chose and in which the video's SHA-256 is;
    `file` is the earlier output, None where no video is known or only notes were kept. Without `maker` (see
    `made_with`), nothing is known or kept.
    """

    def __init__(self, output: str | os.PathLike[str], maker: str = ""):
        self.output, self.maker = Path(output), maker
        self._link, self._note = (self.output.with_name(f".{self.output.name}{ending}") for ending in (LINK, NOTE))
        self.file: Path | None = None
        self.videos: dict[str, Any] = self._read() if maker else {}

    def _read(self) -> dict[str, Any]:
        try:
            digest, _, text = self._note.read_text(encoding="utf-8").partition("\n")
            if hashlib.sha256(text.encode()).hexdigest() != digest:
                raise ValueError("its note is not as it was written")
            note = json.loads(text)
            if note["made_with"] != self.maker:
                return {}
            if note["sha256"] and file_digest(self._link) != note["sha256"]:
                raise ValueError("it is not as it was written")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("%s is not used, all videos are looked at again: %s", self._link, error)
            return {}
        self.file = self._link if note["sha256"] else None
        return note["videos"]

    def known(self, keys: Iterable[str]) -> set[str]:
        """Which of `keys` are known, with a word to the log."""
        wanted = list(keys)
        found = self.videos.keys() & set(wanted)
        if found:
            count = sum(key in found for key in wanted)
            log.info("%d of %d videos are taken as they were made before: %s", count, len(wanted), self._note)
        return found

    def keep(self, videos: Mapping[str, Any], link: bool = True) -> None:
        """Hold the output as it now is for the next job, with what it needs to know of each video, by its key.

        Without `link` the notes are all that is kept. A file system without hard links keeps nothing. What an earlier
        job kept goes.
        """
        self._note.unlink(missing_ok=True)  # first: what is killed here leaves a link that nothing speaks of
        self._link.unlink(missing_ok=True)
        if not self.maker:
            return
        digest = None
        if link:
            try:
                self._link.hardlink_to(self.output)
            except OSError as error:
                log.info("the next job of this shard will look at all its videos again: %s", error)
                return
            digest = file_digest(self._link)
        text = json.dumps({"made_with": self.maker, "sha256": digest, "videos": videos})
        write_text(self._note, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
