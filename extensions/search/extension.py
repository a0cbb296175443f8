"""Search in videos: an index of a corpus or of a folder, and a page that asks it."""

from verified.extension import Extension
from verified_search.config import Search


def _commands():
    from verified_search import cli

    return (cli,)


EXTENSION = Extension(
    name="search",
    title="search videos",
    sections={"search": Search},
    commands=_commands,
)
