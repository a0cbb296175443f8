"""For each kind of file of an index: a folder without a fault, and the commands that read it."""

import shutil

from small_index import random_videos, write_corpus

from verified_search.update import update


def index_files(folder):
    """An index, sealed as any is."""
    files, settings = write_corpus(folder / "corpus", random_videos(4, longest=5))
    update(folder / "index", files, settings)
    shutil.rmtree(folder / "corpus")
    return [
        ["search", "a red thing", "--index", "index", "--top", "3", "--json"],
        ["search", "a thing", "--index", "index", "--video", "v0001"],
    ]


def sealed_anew_files(folder):
    """An index whose files are sealed after they are damaged: only what they say can tell (see `sealed_anew`)."""
    return index_files(folder)


sealed_anew_files.sealed_anew = True
KINDS = (index_files, sealed_anew_files)
