"""The card of the shipped VLG-Net: recipe, corpus, recall in unseen movies, digests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl, write_json
from verified_longform.recall import IOUS, KS

NEVER_SEEN = (
    "No movie of another seed: each draws its events from the seed of its configuration and from its own name, so that"
    " names repeat between corpora, and worlds do not. No real video."
)


def write_card(
    weights: Path, log: Path, annotations: Path, metrics: Path, encoder: Path, plan: Mapping[str, Any], output: Path
) -> None:
    """Write the card.

    plan: command, seed, commit, and grid, recipe and corpus as configured; its `train_split` names the training rows.
    annotations: rows of the corpus, all splits; metrics: the output of `measure_ranker` for its test split.
    """
    rows, epochs = read_jsonl(annotations), read_jsonl(log)
    trained = [row for row in rows if row["split"] == plan["corpus"]["train_split"]]
    files = {"vlg-net.safetensors": weights, "vlg-net.log.jsonl": log}
    write_json(
        output,
        {
            **plan,
            "never_seen": NEVER_SEEN,
            "trained_on": {
                "movies": len({row["movie"] for row in trained}),
                "sentences": len(trained),
                "windows": sum(row["queries"] for row in epochs),
            },
            "encoder": {"name": encoder.name, "sha256": file_digest(encoder)},
            "held_out": held_out(read_json(metrics)),
            "last_epoch": epochs[-1],
            "files": {
                name: {"bytes": path.stat().st_size, "sha256": file_digest(path)} for name, path in files.items()
            },
        },
    )


def held_out(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """R@1 in percent by IoU and length of videos, of the corpus's own test movies."""
    lengths: Sequence[Mapping[str, Any]] = metrics["lengths"]
    found = {
        "whole movies" if one["seconds"] is None else f"{one['seconds']:g} s": {
            f"R@1 IoU={iou:g}": round(one["recall"][KS.index(1)][column], 2) for column, iou in enumerate(IOUS)
        }
        for one in lengths
    }
    return {"queries": metrics["queries"], "movies": metrics["movies"], "iou_cmp": metrics["iou_cmp"], **found}
