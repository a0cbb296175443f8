"""A folder of videos: which files are in it, which ids they get, and which file a name in a moments file means.

A video's id is its path below the folder, with `/` and without the ending (`kitchen/breakfast`); where two would
be alike (`a.mp4` beside `a.mkv`, or beside a folder `a` with videos) the id keeps the ending. No name leads out of the
folder: absolute paths, `..`, and links that end elsewhere are refused.
"""

import hashlib
import os
import re
from collections import Counter
from pathlib import Path, PurePosixPath

from verified.common.errors import InputError

ENDINGS = {".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".ts", ".webm", ".wmv"}

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class NameRefused(Exception):
    """A name that is not, or not clearly, a video of the folder; `reason` is the slug for exclusions.jsonl."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class VideoFolder:
    """The videos below `folder`: `paths` by id, and `refused`, (relative path, reason, detail) of files left out."""

    def __init__(self, folder: str | os.PathLike):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InputError("no such folder of videos", file=folder)
        home = self.folder.resolve()
        self.refused: list[tuple[str, str, str]] = []
        found = []
        for path in _video_files(self.folder):
            name = path.relative_to(self.folder).as_posix()
            if _CONTROL.search(name):
                shown = name.encode("unicode_escape").decode("ascii")
                self.refused.append(
                    (shown, "invalid-video-id", "the file's name holds control characters or is not UTF-8")
                )
            elif not path.resolve().is_relative_to(home):
                self.refused.append(
                    (name, "outside-folder", "the file is a link that leads out of the folder of videos")
                )
            else:
                found.append(PurePosixPath(name))
        stems = Counter(name.with_suffix("") for name in found)
        taken = {*found, *(parent for name in found for parent in name.parents)}
        self._ids, self._by_stem, self._ambiguous = {}, {}, {}
        for name in found:
            stem = name.with_suffix("")
            unambiguous = stems[stem] == 1 and stem not in taken
            self._ids[name.as_posix()] = (stem if unambiguous else name).as_posix()
            if stems[stem] > 1:
                self._ambiguous.setdefault(stem.as_posix(), []).append(name.name)
            else:
                self._by_stem[stem.as_posix()] = self._ids[name.as_posix()]
        self.paths = {video: self.folder / name for name, video in self._ids.items()}

    def video_id(self, name: object) -> str:
        """Id of the video that `name` (a path below the folder, with or without ending) means; raises NameRefused."""
        if not isinstance(name, str) or not name.strip():
            raise NameRefused("invalid-video-id", "the video's name is empty or not text")
        parts = re.split(r"[/\\]", name)
        if _CONTROL.search(name) or ".." in parts or name.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", name):
            raise NameRefused("invalid-video-id", "the video's name is no plain path below the folder of videos")
        asked = PurePosixPath(name).as_posix()
        if asked in self._ids:
            return self._ids[asked]
        if asked in self._by_stem:
            return self._by_stem[asked]
        if asked in self._ambiguous:
            raise NameRefused("ambiguous-video", f"{' and '.join(self._ambiguous[asked])} both match; give the ending")
        for file, reason, detail in self.refused:
            if asked in (file, PurePosixPath(file).with_suffix("").as_posix()):
                raise NameRefused(reason, detail)
        raise NameRefused("unknown-video", "no such video in the folder of videos")


def folder_digest(folder: str | os.PathLike) -> str:
    """A digest of names, sizes and times of change of the videos below `folder`: a cheap sign that one was replaced."""
    digest = hashlib.sha256()
    for path in _video_files(Path(folder)):
        try:
            status = path.stat()
        except OSError:
            continue
        line = f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _video_files(folder: Path) -> list[Path]:
    """All files below `folder` with a video's ending, sorted; folders that are links are not entered."""
    found = [
        Path(base, name)
        for base, _, names in os.walk(folder)
        for name in names
        if Path(name).suffix.lower() in ENDINGS and not name.startswith(".")
    ]
    return sorted(found, key=lambda path: path.as_posix())
