"""Search in videos: an index of a corpus or of a folder, and a page that asks it."""

from verified.extension import Extension
from verified_search.config import Search


def _commands():
    from verified_search import cli

    return (cli,)


def _next_commands(settings):
    from verified.errors import InputError
    from verified_search.jobs import index_folder

    try:
        index_folder(settings)
    except InputError:
        return {}
    return {"Search these videos": ("verified index", "verified search --serve")}


EXTENSION = Extension(
    name="search",
    title="search videos",
    sections={"search": Search},
    commands=_commands,
    next_commands=_next_commands,
)
