"""Empty placeholders for missing sources, so that a run can be planned before anything is fetched.

A plan needs no video and no caption: jobs follow from the configuration. The number of moments is known if the
annotations are published (config/sources.csv).
"""

from collections.abc import Iterator
from pathlib import Path

from verified.config import Config
from verified.config.sources import PublishedSource
from verified.errors import InputError
from verified.planning.stages import supplied
from verified.released.collections import DOWNLOADS, resolve
from verified.released.files import SOURCES, SourceFile, collections


def missing(config: Config, directory: Path) -> list[str]:
    """Folders of videos and files that `config` names and that `directory` lacks (or whose link targets are
    missing)."""
    return [path for path, _ in _named_paths(config) if not (directory / path).exists()]


def lay_out(config: Config, folder: Path, directory: Path = Path(".")) -> None:
    """Create empty folders and files below `folder` for all paths that `config` names relative to `directory`.

    Raises InputError for a missing path outside of the directory.
    """
    for path, is_folder in _named_paths(config):
        if Path(path).is_absolute() or ".." in Path(path).parts:
            if not (directory / path).exists():
                raise InputError("a plan can replace missing files below its directory only", file=path)
        elif is_folder:
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()


def published_moments(config: Config) -> dict[str, dict[str, int]]:
    """{title: {split: number of published captions}} of the data sets with published coarse annotations."""
    return {
        dataset.title: {
            split: files[0].rows
            for split, files in _collection(source).items()
            if files[0].rows is not None and (source.splits is None or split in source.splits)
        }
        for dataset in config.datasets.values()
        if isinstance(source := dataset.source, PublishedSource)
    }


def _named_paths(config: Config) -> Iterator[tuple[str, bool]]:
    """(path, whether it is a folder) of the inputs of a run that no rule makes."""
    yield from ((given.path, given.is_folder) for given in supplied(config))
    for dataset in config.datasets.values():
        if isinstance(dataset.source, PublishedSource):
            yield from ((path, False) for path in _annotation_files(dataset.source))


def _annotation_files(source: PublishedSource) -> Iterator[str]:
    """Published files that no rule downloads, or that belong in a folder of the user's."""
    local = source.released_dir or (source.sources and str(Path(source.sources).parent))
    for files in _collection(source).values():
        for file in files:
            if local or file.access != "open":
                yield f"{local or DOWNLOADS.as_posix()}/{file.place}"


def _collection(source: PublishedSource) -> dict[str, tuple[SourceFile, ...]]:
    listed = Path(source.sources or SOURCES)
    known = collections(listed) if listed.is_file() else {}
    return known.get(source.collection) or resolve(source).files
