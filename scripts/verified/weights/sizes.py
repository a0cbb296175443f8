"""Download size of a model."""

from pathlib import Path

from verified.config.weights import Weights
from verified.weights import hub, local_hub
from verified.weights.lock import read_lock
from verified.weights.wanted import Wanted


def size_of(wanted: Wanted, weights: Weights) -> int:
    """Bytes of a model's files, by the lock file or else the hub. Raises InputError if neither gives them."""
    entry = read_lock(weights.lock)["models"].get(wanted.key)
    if entry:
        return sum(facts["bytes"] for facts in entry["files"].values())
    if weights.hub:
        return sum(facts["bytes"] for facts in local_hub.describe(wanted, Path(weights.hub))[1].values())
    return hub.look_up(wanted).bytes
