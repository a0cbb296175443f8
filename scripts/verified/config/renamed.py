"""Keys that have another name now: a configuration with the old one is refused and told the new one."""

from collections.abc import Sequence

RENAMED = {
    "generation.scene_reader.spoiled_share": "corrupted_share",
    "longform.datasets.*.source.films": "movies",
    "longform.nms": "nms_threshold",
    "retrieval.bootstrap": "resamples",
    "retrieval.training.*.model": "options",
}
"""Old path, with * for any name → the key that stands in its place."""


def new_name(path: Sequence[int | str]) -> str | None:
    """The whole path of the key that has taken the place of the one at `path`; None where none has."""
    for old, new in RENAMED.items():
        parts = old.split(".")
        if len(parts) == len(path) and all(part in ("*", str(key)) for part, key in zip(parts, path)):
            return ".".join([*map(str, path[:-1]), new])
    return None
