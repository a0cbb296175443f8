"""Empty placeholders for missing sources, so that a dry run needs no video and no caption."""

from collections.abc import Iterator
from pathlib import Path

from verified.config import Config
from verified.config.sources import PublishedSource
from verified.planning.needs import published_files
from verified.planning.stages import supplied
from verified.released.collections import DOWNLOADS


def lay_out(config: Config, folder: Path) -> None:
    """Create empty folders and files below `folder` for all inputs of a run that no rule makes."""
    for path, is_folder in _inputs(config):
        if not (folder / path).exists():
            (folder / path if is_folder else (folder / path).parent).mkdir(parents=True, exist_ok=True)
            if not is_folder:
                (folder / path).touch()


def _inputs(config: Config) -> Iterator[tuple[str, bool]]:
    """(path, whether it is a folder) of each; published files that no rule downloads, or of a user's folder."""
    yield from ((given.path, given.is_folder) for given in supplied(config))
    for dataset in config.datasets.values():
        if isinstance(source := dataset.source, PublishedSource):
            local = source.released_dir or (source.sources and str(Path(source.sources).parent))
            for file in (file for files in published_files(source).values() for file in files):
                if local or file.access != "open":
                    yield f"{local or DOWNLOADS.as_posix()}/{file.place}", False
