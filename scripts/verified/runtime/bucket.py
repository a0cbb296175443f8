# pyright: basic
"""Results in a bucket of an S3 server, when Snakemake is started with `--default-storage-provider s3`.

Snakemake's plugin for S3 (0.3.6) keeps a file that a job reads or writes as a copy below `.snakemake/storage`. Here the
copy stands where the same file would be without a bucket, below the `results/` and `logs/` of the working directory, so
that rules, jobs and seals know one spelling of a path. With a file travels what belongs to it: its seal, the files that
an HDF5 file links to, the videos that a shard's list describes. What stands elsewhere, a user's sources and what comes
with the workflow, is read where it is.
"""

import io
import json
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from verified.errors import InputError
from verified.io.files import write_text
from verified.runtime.content import CHUNK, link_targets
from verified.runtime.rebuilding import BEGUN, begun_of
from verified.runtime.seals import BUILT, VIDEOS, seal_of

KEPT = (BUILT, "logs")
"""Folders whose files are kept in the bucket."""
OWNER = Path(BUILT, ".bucket")
"""Says of which bucket the files beside it are copies."""


class Bucket:
    """The files of a run in a bucket: below `prefix`, by their path in the working directory.

    `client`: boto3's for S3, which several threads may use. `here`: the working directory; Snakemake leaves it at last.
    """

    def __init__(self, client: Any, prefix: str):
        self.client, self.prefix, self.here = client, prefix, Path.cwd()
        self.name, _, folder = prefix.removeprefix("s3://").partition("/")
        self._folder = f"{folder}/" if folder else ""

    def key_of(self, path: str | os.PathLike[str]) -> str:
        """The key of a file."""
        return f"{self._folder}{Path(path).as_posix()}"

    def path_of(self, key: str) -> str:
        """The file of a key."""
        return key[len(self._folder) :]

    def check(self) -> None:
        """Raise InputError where the bucket is not there, or may not be looked at."""
        from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingImports] (see requirements-storage.in)

        try:
            self.client.head_bucket(Bucket=self.name)
        except (BotoCoreError, ClientError) as error:
            raise InputError(
                f"the bucket {self.name} cannot be used: {error}",
                remedy="make it, and give address and keys (docs/cluster.md, Object storage)",
            ) from None

    def entries(self, below: str) -> dict[str, tuple[int, float]]:
        """Bytes and time (seconds since the epoch) of all files whose path begins with `below`, by their path."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=f"{self._folder}{below}")
        items = [item for page in pages for item in page.get("Contents", ())]
        return {self.path_of(item["Key"]): (item["Size"], item["LastModified"].timestamp()) for item in items}

    def fetch(self, path: str | os.PathLike[str]) -> bool:
        """Copy a file here; whether there is one. It takes its place whole, with its time in the bucket."""
        item = self._get(path)
        if item is None:
            return False
        place, time = self.here / path, item["LastModified"].timestamp()
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{place.name}.partial")  # with no ending by which it would be taken for the file
        with partial.open("wb") as file:
            for piece in item["Body"].iter_chunks(CHUNK):
                file.write(piece)
        os.utime(partial, (time, time))
        partial.replace(place)
        return True

    def read(self, path: str | os.PathLike[str]) -> bytes | None:
        """What a small file holds; None where there is none."""
        item = self._get(path)
        return item["Body"].read() if item else None

    def _get(self, path: str | os.PathLike[str]) -> Any:
        try:
            return self.client.get_object(Bucket=self.name, Key=self.key_of(path))
        except self.client.exceptions.NoSuchKey:
            return None

    def store(self, path: str | os.PathLike[str], content: bytes | None = None) -> None:
        """Copy a file there, or this content in its place."""
        with (self.here / path).open("rb") if content is None else io.BytesIO(content) as body:
            self.client.put_object(Bucket=self.name, Key=self.key_of(path), Body=body)

    def begun_again(self, folder: str | os.PathLike[str]) -> list[str]:
        """Files below `folder` that a job began to build again and did not (see `runtime.rebuilding.begun_again`)."""
        there = self.entries(f"{Path(folder).as_posix()}/")
        marks = [Path(path) for path in there if path.endswith(BEGUN)]
        files = [mark.with_name(mark.name[1:].removesuffix(BEGUN)).as_posix() for mark in marks]
        return [file for file in files if not any(path == file or path.startswith(f"{file}/") for path in there)]

    def remove(self, path: str | os.PathLike[str]) -> None:
        """Remove a file there."""
        self.client.delete_object(Bucket=self.name, Key=self.key_of(path))


def keep_in_bucket(workflow: Any) -> Bucket | None:
    """Have this Snakemake keep what jobs write in the bucket that its command line names; None where it names none.

    Raises InputError for another storage than S3, for a bucket that cannot be used, and where the working directory
    holds the results of another run.
    """
    storage, provider = workflow.storage_settings, workflow.storage_registry.default_storage_provider
    prefix = (storage.default_storage_prefix or "").rstrip("/") if provider else ""
    if provider and not (storage.default_storage_provider == "s3" and prefix.removeprefix("s3://")):
        raise InputError(
            f"results cannot be kept in {prefix or 'no bucket'} by the storage {storage.default_storage_provider}",
            remedy="give --default-storage-provider s3 --default-storage-prefix s3://BUCKET/FOLDER",
        )
    if workflow.is_main_process and not workflow.output_settings.dryrun:
        _own(prefix)
    if provider is None:
        return None
    bucket = Bucket(provider.s3c.meta.client, prefix)
    if workflow.is_main_process:
        bucket.check()
    _stand_at_own_paths(provider, bucket)
    return bucket


def _own(prefix: str) -> None:
    """Refuse a folder whose results are not those of this bucket; `prefix` is empty for a run without one."""
    owner = OWNER.read_text(encoding="utf-8").strip() if OWNER.is_file() else ""
    if owner != prefix and Path(BUILT).is_dir() and any(Path(BUILT).iterdir()):
        whose = f"are copies of {owner}" if owner else "are of a run without a bucket"
        raise InputError(
            f"the results in this folder {whose}",
            file=BUILT,
            remedy="start this run in a folder of its own (snakemake --directory FOLDER)",
        )
    if prefix:
        write_text(OWNER, f"{prefix}\n")


def _fetch_belongings(bucket: Bucket, path: Path) -> None:
    """Copy here what belongs to a file that was copied: its seal, what it links to, the videos that it lists."""
    if not bucket.fetch(seal_of(path)):
        seal_of(path).unlink(missing_ok=True)
    for target in link_targets(path):
        if bucket.fetch(target):
            _fetch_belongings(bucket, target)
    if path.name.endswith(VIDEOS):
        with path.open(encoding="utf-8") as lines:
            videos = [Path(json.loads(line)["path"]) for line in lines]
        for video in videos:
            if not (video.is_absolute() or ".." in video.parts or video.exists()):
                bucket.fetch(video)  # what is not in the bucket either is missed by whoever reads the list


def _stand_at_own_paths(provider: Any, bucket: Bucket) -> None:
    """Have Snakemake (9.27.1), in this process, place copies at the paths of their files, and files of `KEPT` alone.

    Snakemake's own `modify` takes a copy that stands at the path of its file for one that is not stored, and `expand`
    refuses `rules.NAME.output` while it is: here these are plain paths, which are stored where they become inputs.
    """
    import snakemake.io as files
    from snakemake.iocontainers import Namedlist
    from snakemake.path_modifier import PathModifier
    from snakemake.rules import RuleProxy

    modifiers: Any = PathModifier
    proxies: Any = RuleProxy
    if modifiers.modify.__module__ == __name__:
        return  # a workflow that takes in this one as a module reads the rules once more
    if not hasattr(proxies, "_to_iofile"):
        raise AttributeError(f"Snakemake's RuleProxy has no _to_iofile: see {__name__}")
    apply, modify = modifiers.apply_default_storage, modifiers.modify

    def place(modifier: Any, path: Any, property: str | None = None) -> Any:
        path = modify(modifier, path, property)
        return apply(modifier, path) if PurePosixPath(path).parts[0] in KEPT else path

    def outputs(proxy: Any, paths: Iterable[Any]) -> Any:
        def plain(path: Any) -> Any:
            return files.IOFile(files.strip_wildcard_constraints(str(path)), rule=proxy.rule)

        return Namedlist(paths, custom_map=plain)

    modifiers.apply_default_storage, modifiers.modify = (lambda _, path: path), place
    proxies._to_iofile = outputs
    kept = _copies(provider.get_storage_object_cls(), bucket)
    provider.get_storage_object_cls = lambda: kept
    provider.local_prefix, provider.keep_local = Path(), True


def _copies(objects: Any, bucket: Bucket) -> Any:
    """The plugin's class of stored files; copies stand at their own paths, with what belongs to them."""

    class Copy(objects):
        def local_suffix(self) -> str:
            return self.query[len(bucket.prefix) + 1 :]  # from the query alone, which has the constraints of wildcards

        def _local_suffix_from_key(self, key: str) -> str:
            return bucket.path_of(key)

        def exists(self) -> bool:
            self._is_dir = None  # a job in a pod may have made the folder since the plugin looked
            return super().exists()

        def remove(self) -> None:
            """Before a job builds a file again, or when the run needs a temporary one no more."""
            path = self.local_path()
            seal = bucket.read(seal_of(path))
            if seal and "temporary" not in json.loads(seal):
                bucket.store(begun_of(path), b"")
            super().remove()

        def store_object(self) -> None:
            super().store_object()
            if self._overwrite_local_path is None and (seal := seal_of(self.local_path())).is_file():
                bucket.store(seal)
                bucket.remove(begun_of(self.local_path()))

        def retrieve_object(self) -> None:
            super().retrieve_object()
            if self._overwrite_local_path is None:
                _fetch_belongings(bucket, self.local_path())

    return Copy
