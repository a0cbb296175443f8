"""Settings of external weights: their source, their folder, and the lock that pins them."""

from pydantic import Field

from verified.config.base import Section


class Weights(Section):
    """Models of the hub and UMT's checkpoint: fetched once, before any job that uses them, and pinned by a lock."""

    folder: str = Field(default="resources/models", min_length=1)
    """Folder of fetched models, as ORGANISATION--NAME/COMMIT/."""
    lock: str = Field(default="models.lock.json", min_length=1)
    """Lock file: the commit and the files' SHA-256 of each model; written by the first fetch, binding afterwards."""
    hub: str | None = None
    """A folder with ORGANISATION/NAME/ below it that replaces the hub, on machines without network."""
