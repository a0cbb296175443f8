"""A submission on the board: a folder with its card and one file of ranked lists for each training."""

from dataclasses import dataclass
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import read_json

CARD, TRUTH = "card.json", "truth.jsonl"
TEXTS = ("model", "features", "trained_on", "command", "commit")
"""What a card must say, each in a text."""
KEYS = (*TEXTS, "seeds", "nms")


@dataclass(frozen=True)
class Entry:
    """One folder of a board."""

    folder: Path
    card: dict
    files: list[Path]
    """One submission in the TVR form for each seed of the card."""


def file_of(folder: Path, seed: int) -> Path:
    """Where a training's ranked lists lie."""
    return folder / f"seed-{seed}.json.gz"


def read_entry(folder: Path) -> Entry:
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
    files = [file_of(folder, seed) for seed in seeds]
    present = {file for file in folder.iterdir() if file.name != CARD}
    for file in files:
        if file not in present:
            raise InputError("no such file, but the card names its seed", file=file)
    if extra := sorted(present - set(files)):
        raise InputError(f"holds {extra[0].name}, which is neither card nor seed of it", file=folder)
    return Entry(folder, card, files)


def read_board(folder: Path) -> list[Entry]:
    """All entries of one data set, by name. InputError where there is no ground truth or no entry."""
    if not (folder / TRUTH).is_file():
        raise InputError("no such file", file=folder / TRUTH, remedy="each data set of a board has its ground truth")
    entries = [read_entry(path) for path in sorted(folder.iterdir()) if path.is_dir()]
    if not entries:
        raise InputError("holds no submission", file=folder, remedy="fill it with `verified board-add`")
    return entries
