"""The demo's engine on questions across time."""

from verified.demo.scene_reader import REVISION
from verified.runtime.digest import code_digest

SOURCES = {"c3860471066a50d3": "86457431a3942e6b"}
"""Revision → digest of the sources that give its answers."""


def test_the_revision_is_raised_with_the_answers():
    """After an edit: raise REVISION if an answer may change, then name the digest of the sources here."""
    assert SOURCES.get(REVISION) == code_digest("verified_rextime.scene_reader", "verified_rextime.scene_reader_frames")
