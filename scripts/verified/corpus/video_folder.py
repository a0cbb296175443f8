"""List a folder of videos: its files, their ids, and the file that a name in a moments file refers to.

A video's id is its path below the folder, with `/` and without the suffix (`kitchen/breakfast`); if two would be equal
(`a.mp4` and `a.mkv`, or a folder `a` with videos) the id includes the suffix. A name never leads out of the folder:
absolute paths, `..`, and links that end elsewhere are refused.
"""

import contextlib
import hashlib
import os
import re
import stat
import time
import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from verified.errors import InputError
from verified.io.characters import HIDDEN

_ENDINGS = """
3g2 3gp amv asf avi bik dav dif divx dv dvr-ms evo f4v flv gxf ismv ivf ivr m1v m2p m2t m2ts m2v m4v mj2 mjpeg mjpg mk3d
mkv mod mov mp4 mpe mpeg mpg mpv mqv mts mxf nsv nut nuv ogm ogv ogx qt rm rmvb roq smk tod tp trp ts ty vid viv vob vro
webm wm wmv wtv xmv y4m 264 265 av1 avc h261 h263 h264 h265 hevc obu vc1 vvc
"""
ENDINGS = {f".{ending}" for ending in _ENDINGS.split()}
"""Endings of files that FFmpeg reads as video; pictures, sounds and subtitles, which it also opens, are no videos."""
MOVING_PICTURES = (".gif", ".webp", ".apng", ".png", ".mng", ".avif")
"""Endings of pictures that may move, and are not read: many folders hold previews of videos."""
SAMPLE = 4096
PARTS = 4
"""Samples of so many bytes, at the borders of so many parts, distinguish videos of the same name and size."""

SETTLED_NS = 2_000_000_000
"""Nanoseconds since its last change after which a file's times tell whether it changes again."""

_CONTROL = re.compile(rf"[\t\n\r]|{HIDDEN.pattern}")


class NameRefused(Exception):
    """A name that is not, or not clearly, a video of the folder; `reason` is the slug for exclusions.jsonl."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class Listing(NamedTuple):
    """The videos below a folder, as they were at one moment; no file was opened."""

    prefix: str
    """Prefix of their names in their paths."""
    files: list[tuple[str, bool]]
    """Names below the folder, and whether each is a regular file."""
    stamps: dict[str, str]
    """The stamps, by name, of files that are old enough for their times to tell the next change (see `stamp`)."""
    digest: str
    """Digest of names and stamps: where it stays, no file's content has changed."""
    settled: bool
    """Whether all files are that old."""


class VideoFolder:
    """The videos below `folder`: `paths` by id, and `refused`, (relative path, reason, detail) of unused files.

    A file whose name without its suffix is one of `published` gets that as its id, in any subfolder. `listed`: the
    names if they are known.
    """

    def __init__(
        self, folder: str | os.PathLike, published: Collection[str] = (), listed: list[tuple[str, bool]] | None = None
    ):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InputError("no such folder of videos", file=folder)
        home = self.folder.resolve()
        self.refused: list[tuple[str, str, str]] = []
        files: list[str] = []
        for name, regular in _video_files(self.folder) if listed is None else listed:
            if _CONTROL.search(name):
                printable = name.encode("unicode_escape").decode("ascii")
                self.refused.append(
                    (printable, "invalid-video-id", "the file's name holds control characters or is not UTF-8")
                )
                continue
            if name.endswith("/"):
                self.refused.append((name[:-1], "linked-folder", "a link to a folder, which is not entered"))
                continue
            if regular:
                files.append(name)
                continue
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                self.refused.append((name, "not-a-file", "a link to a file that is not there"))
            elif not os.path.isfile(path):
                self.refused.append((name, "not-a-file", "a pipe, socket or device, not a regular file"))
            elif not Path(os.path.realpath(path)).is_relative_to(home):
                self.refused.append(
                    (name, "outside-folder", "the file is a link that leads out of the folder of videos")
                )
            else:
                files.append(name)
        # All of them have an ending. Of 200,000 names, functions for paths would take seconds.
        stem_of = {name: name[: name.rindex(".")] for name in files}
        stems = Counter(stem_of.values())
        folders = {PurePosixPath(folder) for folder in {name.rpartition("/")[0] for name in files}}
        in_use = {*files, *(parent.as_posix() for folder in folders for parent in (folder, *folder.parents))}
        self._ids, self._by_stem, self._ambiguous = {}, {}, {}
        self._resolved: dict[str, str] = {}
        for name in files:
            stem = stem_of[name]
            self._ids[name] = stem if stems[stem] == 1 and stem not in in_use else name
            if stems[stem] > 1:
                self._ambiguous.setdefault(stem, []).append(os.path.basename(name))
            else:
                self._by_stem[stem] = self._ids[name]
        self._name_published(files, published)

    @cached_property
    def files(self) -> dict[str, str]:
        """Paths of the videos by id, with `/`, in the order of their names."""
        prefix = _prefix(self.folder)
        return {video: prefix + name for name, video in self._ids.items()}

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The same as paths; of 200,000 videos these take a second."""
        return {video: Path(file) for video, file in self.files.items()}

    @cached_property
    def _ids_by_spelling(self) -> dict[str, set[str]]:
        """Ids by the names that lead to them, in one spelling."""
        ids: dict[str, set[str]] = {}
        for names in (self._ids, self._by_stem):
            for name, video in names.items():
                ids.setdefault(_spelling(name), set()).add(video)
        return ids

    def _name_published(self, files: list[str], published: Collection[str]) -> None:
        by_name: dict[str, list[str]] = {}
        for name in files if published else ():
            stem = os.path.splitext(os.path.basename(name))[0]
            if stem in published:
                by_name.setdefault(stem, []).append(name)
        for video, names in by_name.items():
            if len(names) > 1:
                self._ambiguous[video] = names
                self._by_stem.pop(video, None)
            else:
                self._ids[names[0]] = self._by_stem[video] = video

    def video_id(self, name: object) -> str:
        """Id of the video that `name` (a path below the folder, with or without ending) means; raises NameRefused."""
        if isinstance(name, str) and name in self._resolved:
            return self._resolved[name]
        if isinstance(name, str) and (video := self._ids.get(name) or self._by_stem.get(name)):
            return video
        if isinstance(name, int | float) and not isinstance(name, bool):
            raise NameRefused("unknown-video", f"{name} is a number, not a name in quotes{self._hint(str(name))}")
        if not isinstance(name, str) or not name.strip():
            raise NameRefused("invalid-video-id", "the video's name is empty or not text")
        components = re.split(r"[/\\]", name)
        if (
            _CONTROL.search(name)
            or ".." in components
            or name.startswith(("/", "\\"))
            or re.match(r"[A-Za-z]:[/\\]", name)
        ):
            raise NameRefused("invalid-video-id", "the video's name is not a plain path below the folder of videos")
        path = PurePosixPath(name).as_posix()
        if path in self._ids or path in self._by_stem:
            self._resolved[name] = self._ids.get(path) or self._by_stem[path]
            return self._resolved[name]
        if path in self._ambiguous:
            raise NameRefused("ambiguous-video", f"{' and '.join(self._ambiguous[path])} both match; give the ending")
        candidates = self._ids_by_spelling.get(_spelling(path), set())
        if len(candidates) > 1:
            raise NameRefused("ambiguous-video", "several videos have this name, in other Unicode forms; rename one")
        if candidates:
            self._resolved[name] = next(iter(candidates))
            return self._resolved[name]
        for file, reason, detail in self.refused:
            inside = reason == "linked-folder" and path.startswith(f"{file}/")
            if inside or path in (file, PurePosixPath(file).with_suffix("").as_posix()):
                raise NameRefused(reason, detail)
        raise NameRefused("unknown-video", f"no such video in the folder of videos{self._hint(path)}")

    def _hint(self, name: str) -> str:
        """Why a name may have been written, as the end of a sentence."""
        if os.path.isfile(self.folder / name):
            return f": files that end in {os.path.splitext(name)[1] or 'nothing'} are not read as videos"
        for ending in MOVING_PICTURES:
            if os.path.isfile(self.folder / f"{name}{ending}"):
                return f": files that end in {ending} are not read as videos"
        keys = _likeness(name), _likeness(_stem(name)), _core(name)
        meant = next(filter(None, map(self._files_by_likeness.get, keys)), None)
        return f"; is {meant} meant?" if meant else ""

    @cached_property
    def _files_by_likeness(self) -> dict[str, str]:
        """Names of files by keys that misspelt names share with them."""
        names = sorted(self._ids, reverse=True)
        keys = (lambda name: _core(_stem(name)), lambda name: _likeness(_stem(name)), _likeness)
        return {key(name): name for key in keys for name in names}


def _prefix(folder: str | os.PathLike) -> str:
    """Prefix of the names of files in a folder."""
    return (Path(folder) / "x").as_posix()[:-1]


def _spelling(name: str) -> str:
    """A name as it looks: accents in one Unicode form (macOS writes another than most editors), `/` for a backslash."""
    return unicodedata.normalize("NFC", name.replace("\\", "/"))


def _stem(name: str) -> str:
    return os.path.splitext(name.rstrip())[0]


def _likeness(name: str) -> str:
    """A name without differences of case, blanks and folders."""
    return "".join(_spelling(name).casefold().rpartition("/")[2].split())


def _core(name: str) -> str:
    """A likeness without leading zeros, `.0` of a number, and the `v_` of some collections."""
    text = _likeness(name).removeprefix("v_")
    return text.removesuffix(".0").lstrip("0") or text


def list_folder(folder: str | os.PathLike) -> Listing:
    """The current videos below `folder`; none if it does not exist."""
    digest, root, oldest = hashlib.sha256(), _prefix(folder), time.time_ns() - SETTLED_NS
    files, stamps, settled = _video_files(folder), {}, True
    for name, regular in files:
        try:
            now, at = _stamp(os.stat(root + name))
        except OSError:
            now, at = "", 0
        digest.update(f"{name}\0{regular}\0{now}\n".encode("utf-8", "surrogateescape"))
        if at < oldest:
            stamps[name] = now
        else:
            settled = False
    return Listing(root, files, stamps, digest.hexdigest(), settled)


def stamp(path: str | os.PathLike) -> tuple[str, bool]:
    """Stamp of a file, changed by every edit (size, times, inode), and whether it is old enough to be reliable."""
    now, changed = _stamp(os.stat(path))
    return now, time.time_ns() - changed > SETTLED_NS


def _stamp(status: os.stat_result) -> tuple[str, int]:
    modified, changed = status.st_mtime_ns, status.st_ctime_ns
    return f"{status.st_size} {modified} {changed} {status.st_ino}", max(modified, changed)


def file_state(path: str | os.PathLike) -> str:
    """Size and samples from both ends, the middle and the quarters of a file; empty for anything but a readable regular
    file.

    A timestamp would change too often: a copied or touched video is the same video. Samples suffice: encoders do not
    make two files of one size with the same bytes there, and an unfinished download with preallocated space has zeros
    there, at its end until the last. If samples miss a change, the jobs that decode a video find it: they compare it
    with the digest of the probed file (see `runtime.checksums`).
    """
    try:
        # A pipe would wait for somebody to write to it. Python's own file object would cost as much as the samples.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return ""
        content = hashlib.sha256()
        for sample in range(PARTS + 1):
            content.update(os.pread(file, SAMPLE, max(0, status.st_size - SAMPLE) * sample // PARTS))
        return f"{status.st_size} {content.hexdigest()[:16]}"
    except OSError:
        return ""
    finally:
        os.close(file)


def other_files(folder: str | os.PathLike) -> str:
    """How many files below `folder` are no videos by their ending, as in ``.jpg 3, .txt 1``, without hidden ones."""
    others: Counter[str] = Counter()
    _video_files(folder, others)
    return ", ".join(f"{ending or 'without an ending'} {count}" for ending, count in sorted(others.items()))


def other_files_remedy(others: str) -> str:
    """Advice for `other_files`."""
    if any(f"{ending} " in others for ending in MOVING_PICTURES):
        return "moving pictures are not read: convert them, as in `ffmpeg -i a.gif a.mp4`"
    return "videos among them are found once their names have an ending that is usual for their format"


def _video_files(folder: str | os.PathLike, others: Counter[str] | None = None) -> list[tuple[str, bool]]:
    """Paths below `folder`, with `/`, of all files with a video's ending, sorted, and whether each is a regular file
    and no link. Links to folders are not entered; their paths end in `/`. Broken links are listed with any ending.
    Endings of other files are added to `others`.
    """
    files: list[tuple[str, bool]] = []
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{below}{name}/")
                elif name[0] == ".":
                    continue
                elif entry.is_symlink() and not os.path.isfile(entry.path):
                    files.append((f"{below}{name}{'/' * os.path.isdir(entry.path)}", False))
                elif name[name.rfind(".") :].lower() not in ENDINGS:
                    if others is not None:
                        others[os.path.splitext(name)[1].lower()] += 1
                else:
                    files.append((below + name, entry.is_file(follow_symlinks=False)))
    return sorted(files)
