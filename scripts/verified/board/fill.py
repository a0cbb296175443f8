"""Fill a board from a finished run: its submissions, its ground truth, and a card for each model."""

import hashlib
import json
import shutil
from pathlib import Path

from verified.board.cards import CARD, TRUTH, file_of
from verified.common.errors import InputError
from verified.common.files import atomic_path, write_text
from verified.common.hdf5 import FeatureFile
from verified.common.jsonl import read_json
from verified.retrieval.alike import check_alike

CAPTIONS = "fig"
"""Captions that models on a board are trained and tested on."""


def add_run(run: Path, folder: Path, command: str, commit: str) -> list[str]:
    """Add each model of `run` (results/NAME) to the board `folder`, in place of its earlier entry; returns the names.

    Raises InputError where the run has no tested model, was tested on another ground truth than the board's, or holds
    trainings of a model that are not alike.
    """
    tested = sorted(run.glob(f"retrieval/*/{CAPTIONS}/seed-*/{CAPTIONS}/metrics.json"))
    if not tested:
        raise InputError("holds no tested retrieval model", file=run, remedy="build its tables first")
    facts = [read_json(path) for path in tested]
    truth = run / "annotations" / CAPTIONS / f"{facts[0]['split']}.jsonl"
    digest = hashlib.sha256(truth.read_bytes()).hexdigest()
    for path, known in zip(tested, facts):
        if known["ground_truth_sha256"] != digest:
            raise InputError("tested on another ground truth than its run has now", file=path, remedy="test it again")
    board_truth = folder / TRUTH
    if board_truth.is_file() and hashlib.sha256(board_truth.read_bytes()).hexdigest() != digest:
        raise InputError(f"is another ground truth than {truth}", file=board_truth, remedy="make a board of its own")
    models: dict[str, list[tuple[Path, dict]]] = {}
    for path, known in zip(tested, facts):
        models.setdefault(known["model"], []).append((path, known))
    for trainings in models.values():
        check_alike(trainings)
    _copy(truth, board_truth)
    features = ", ".join(
        str(FeatureFile(run / "features" / name).attributes.get("backbone", "unknown"))
        for name in ("video.h5", f"text-{CAPTIONS}.h5")
    )
    for model, trainings in models.items():
        seeds = sorted(known["seed"] for _, known in trainings)
        card = {
            "model": model,
            "features": features,
            "trained_on": f"{trainings[0][1]['dataset']}, {CAPTIONS} captions",
            "command": command,
            "commit": commit,
            "seeds": seeds,
            "nms": trainings[0][1]["nms_threshold"],
        }
        for path, known in trainings:
            _copy(path.with_name("submission.json.gz"), file_of(folder / model, known["seed"]))
        write_text(folder / model / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
        for earlier in set((folder / model).glob("seed-*.json.gz")) - {file_of(folder / model, seed) for seed in seeds}:
            earlier.unlink()
    return sorted(models)


def _copy(source: Path, target: Path) -> None:
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)
