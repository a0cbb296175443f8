"""Fill a board from a finished run: its submissions, its ground truth, and a card for each model."""

import hashlib
import json
import shutil
from pathlib import Path

from verified.benchmark.board.cards import CARD, TRUTH, file_of
from verified.benchmark.vcmr.answers import MomentTruth
from verified.benchmark.vcmr.same_settings import check_alike, read_metrics
from verified.errors import InputError
from verified.io.files import atomic_path, write_text
from verified.io.hdf5 import FeatureFile
from verified.runtime.file_names import file_name
from verified.runtime.seals import as_in_run, check

CAPTIONS = "fig"
"""Captions that models on a board are trained and tested on."""

NEEDED = ("dataset", "model", "seed", "split", "nms_threshold", "ground_truth_sha256")
"""What metrics must say for a card."""
SUBMISSION = f"submission{MomentTruth.ending}"


def add_run(run: Path, folder: Path, command: str, commit: str) -> list[str]:
    """Add each model of `run` (results/NAME) to the board `folder`, in place of its earlier entry; returns the names.

    Raises InputError where the run has no tested model, was tested on another ground truth than the board's, or holds
    trainings of a model that are not alike.
    """
    tested = sorted(run.glob(f"retrieval/*/{CAPTIONS}/seed-*/{CAPTIONS}/metrics.json"))
    if not tested:
        raise InputError("holds no tested retrieval model", file=run, remedy="build its tables first")
    facts = [read_metrics(path) for path in tested]
    for path, known in zip(tested, facts):
        if missing := [key for key in NEEDED if key not in known]:
            raise InputError(f"lacks {', '.join(missing)}", file=path, remedy="test the model again")
        file_name(known["model"], path, "model")
    truth = run / "annotations" / CAPTIONS / f"{file_name(facts[0]['split'], tested[0], 'split')}.jsonl"
    features = [run / "features" / name for name in ("video.h5", f"text-{CAPTIONS}.h5")]
    for path in (truth, *features, *tested, *(path.with_name(SUBMISSION) for path in tested)):
        check(as_in_run(path))
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
    backbones = ", ".join(map(_backbone, features))
    for model, trainings in models.items():
        seeds = sorted(known["seed"] for _, known in trainings)
        card = {
            "model": model,
            "features": backbones,
            "trained_on": f"{trainings[0][1]['dataset']}, {CAPTIONS} captions",
            "command": command,
            "commit": commit,
            "seeds": seeds,
            "nms": trainings[0][1]["nms_threshold"],
        }
        for path, known in trainings:
            _copy(path.with_name(SUBMISSION), file_of(folder / model, known["seed"], MomentTruth.ending))
        write_text(folder / model / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
        for earlier in set((folder / model).glob("seed-*.json.gz")) - {
            file_of(folder / model, seed, MomentTruth.ending) for seed in seeds
        }:
            earlier.unlink()
    return sorted(models)


def _backbone(features: Path) -> str:
    name = str(FeatureFile(features).attributes.get("backbone", "unknown"))
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes of no text, as HDF5 may hold
        raise InputError("the attribute 'backbone' is no text", file=features, remedy="extract them again") from None
    return name


def _copy(source: Path, target: Path) -> None:
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)
