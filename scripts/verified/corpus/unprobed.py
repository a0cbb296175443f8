"""The moments of a source as far as they are known before a video is opened: for quotes."""

from pathlib import Path

from verified.config.sources import FolderSource, PublishedSource
from verified.corpus.folder_source import open_folder, usable_rows
from verified.corpus.moments_file import read_moments_file
from verified.corpus.published_source import published_rows


def unprobed_moments(source: FolderSource | PublishedSource, corpus: str) -> list[dict]:
    """Usable rows of `source`, whose files that rules make are in the folder `corpus`; `duration` is None.

    Videos that do not decode are still among them. Raises InputError where the folder of videos, the moments file or
    published annotations are not there.
    """
    files = source.files(corpus)
    if source.published and not Path(files["moments"]).is_file():
        rows = list(enumerate(published_rows(source), start=1))
    else:
        rows = read_moments_file(files["moments"])
    folder = open_folder(files["videos"], rows, source.published)
    kept, _ = usable_rows(rows, folder, getattr(source, "default_split", "test"))
    return [row for _, row in kept]
