"""A submission on the board: a folder with its card and one file for each training."""

from dataclasses import dataclass
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import read_json

CARD, TRUTH, MOVIES = "card.json", "truth.jsonl", "truth.json"
TEXTS = ("model", "features", "trained_on", "command", "commit")
"""What a card must say, each in a text."""
KEYS = (*TEXTS, "seeds", "nms")


@dataclass(frozen=True)
class Entry:
    """One folder of a board."""

    folder: Path
    card: dict
    files: list[Path]
    """One submission for each seed of the card."""


def truth_of(folder: Path) -> Path:
    """A data set's ground truth: JSON Lines, or one JSON document of movies. InputError where there is neither."""
    found = [folder / name for name in (TRUTH, MOVIES) if (folder / name).is_file()]
    if not found:
        raise InputError("no such file", file=folder / TRUTH, remedy="each data set of a board has its ground truth")
    if len(found) > 1:
        raise InputError(f"stands beside {TRUTH}", file=folder / MOVIES, remedy="give one ground truth")
    return found[0]


def file_of(folder: Path, seed: int, ending: str) -> Path:
    """Where a training's submission lies."""
    return folder / f"seed-{seed}{ending}"


def read_entry(folder: Path, ending: str) -> Entry:
    """The card and its files. Raises InputError for a card that says too little, and for files without a seed on it."""
    path = folder / CARD
    card = read_json(path)
    if not isinstance(card, dict) or set(card) != set(KEYS):
        raise InputError("not a card", file=path, remedy=f"give {', '.join(KEYS)}, and nothing else")
    for key in TEXTS:
        if not isinstance(card[key], str) or not card[key].strip():
            raise InputError(f"{key!r} must be a text", file=path)
    seeds, nms = card["seeds"], card["nms"]
    whole = isinstance(seeds, list) and seeds and all(isinstance(s, int) and not isinstance(s, bool) for s in seeds)
    if not whole or len(set(seeds)) < len(seeds):
        raise InputError("'seeds' must be a list of different whole numbers", file=path)
    if nms is not None and not (isinstance(nms, int | float) and not isinstance(nms, bool) and 0 <= nms <= 1):
        raise InputError("'nms' must be a tIoU from 0 to 1, or null", file=path)
    files = [file_of(folder, seed, ending) for seed in seeds]
    present = {file for file in folder.iterdir() if file.name != CARD}
    for file in files:
        if file not in present:
            raise InputError("no such file, but the card names its seed", file=file)
    if extra := sorted(present - set(files)):
        raise InputError(f"holds {extra[0].name}, which is neither card nor seed of it", file=folder)
    return Entry(folder, card, files)


def read_board(folder: Path, ending: str) -> list[Entry]:
    """All entries of one data set, by name, with files of this ending. InputError where there is none."""
    entries = [read_entry(path, ending) for path in sorted(folder.iterdir()) if path.is_dir()]
    if not entries:
        raise InputError("holds no submission", file=folder, remedy="fill it with `verified board-add`")
    return entries
