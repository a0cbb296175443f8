"""Search in videos: an index of a corpus or of a folder, and a page that asks it."""

from verified.extension import Extension
from verified_search.config import Search

EXTENSION = Extension(
    name="search",
    title="search videos",
    sections={"search": Search},
    initial={"search": {"model": "joint"}},
    commands=("verified_search.cli",),
)
