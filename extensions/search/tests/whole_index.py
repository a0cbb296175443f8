"""For each kind of file of an index: a folder without a fault, and the commands that read it."""

import shutil

from small_index import random_videos, write_corpus

from verified_search.update import update


def index_files(folder):
    files, settings = write_corpus(folder / "corpus", random_videos(4, longest=5))
    update(folder / "index", files, settings)
    shutil.rmtree(folder / "corpus")
    return [
        ["search", "a red thing", "--index", "index", "--top", "3", "--json"],
        ["search", "a thing", "--index", "index", "--video", "v0001"],
    ]


def refreshed_files(folder):
    """An index whose checksums are made after the damage: only its contents can tell (see `refresh_checksums`)."""
    return index_files(folder)


refreshed_files.refresh_checksums = True
KINDS = (index_files, refreshed_files)
