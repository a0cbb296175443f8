"""The moments of a source as far as they are known before a video is opened: for quotes."""

from pathlib import Path
from typing import NamedTuple

from verified.config.sources import SourceSection
from verified.corpus.folder_source import open_folder, usable_rows
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.moments_file import read_moments_file


class Unprobed(NamedTuple):
    """Numbered rows of a moments file, the folder of videos, the usable rows, and the exclusions of the others."""

    rows: list[tuple[int, dict]]
    folder: VideoFolder
    usable: list[tuple[int, dict]]
    refused: list[dict]


def unprobed_moments(source: SourceSection, corpus: str) -> list[dict]:
    """Usable rows of `source`, whose files that rules make are in the folder `corpus`; `duration` is None.

    Videos that do not decode are still among them. Raises InputError where the folder of videos, the moments file or
    published annotations are not there.
    """
    return [row for _, row in unprobed_rows(source, corpus).usable]


def unprobed_rows(source: SourceSection, corpus: str) -> Unprobed:
    """The same with everything around it; raises as `unprobed_moments` does."""
    files = source.files(corpus)
    if source.lists_moments and not Path(files["moments"]).is_file():
        rows = list(enumerate(source.rows(), start=1))
    elif source.proposes_moments and not Path(files["moments"]).is_file():
        raise InputError(
            "no moments are proposed yet",
            file=files["moments"],
            remedy=f"run: snakemake --cores all {files['moments']} --configfile …, or continue: a run begins with it",
        )
    else:
        rows = read_moments_file(files["moments"])
    folder = open_folder(files["videos"], rows, source.published)
    return Unprobed(rows, folder, *usable_rows(rows, folder, getattr(source, "default_split", None) or "test"))
