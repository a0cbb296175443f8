"""A data set of ten moments and a checkpoint to start from, as small as fine-tuning takes them."""

from pathlib import Path

import numpy as np
import torch

from verified.evaluator.checkpoint import save_checkpoint
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import architecture
from verified.io.jsonl import write_jsonl

FRAMES, PIXELS, MOMENTS = 4, 32, 10
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "grey", "brown", "pink", "orange")
SETTINGS = {
    "size": "tiny",
    "frames": FRAMES,
    "image_size": PIXELS,
    "epochs": 1,
    "warmup_epochs": 0.5,
    "batch": 4,
    "splits": ["train", "test"],
    "checkpoint": "start.safetensors",
}


def write_dataset(folder: Path) -> dict:
    """Ten moments: number 7 without any selected, 8 without a selected positive, 9 too short, 0 of another split."""
    frames = np.random.default_rng(5).integers(0, 256, (MOMENTS, FRAMES, PIXELS, PIXELS, 3), dtype=np.uint8)
    np.save(folder / "clips.npy", frames)
    moments, perturbations, index = [], [], []
    for number, colour in enumerate(COLOURS):
        caption = f"a small {colour} ball moves to the left"
        name = {"desc_id": number, "video": f"v{number // 2}"}
        moments.append({**name, "split": "val" if number == 0 else "test" if number < 4 else "train"})
        index.append({**name, "reason": "shorter-than-two-frames" if number == 9 else None})
        selected = {"statics": caption.replace("ball", "box"), "dynamics": caption.replace("left", "right")}
        selected["positive"] = None if number == 8 else f"there {caption}"
        perturbations.append({**name, "caption": caption, "selected": {} if number == 7 else selected})
    for file, rows in (("moments", moments), ("perturbations", perturbations), ("index", index)):
        write_jsonl(folder / f"{file}.jsonl", rows)
    return {
        "name": "small",
        "moments": [folder / "moments.jsonl"],
        "perturbations": [folder / "perturbations.jsonl"],
        "clips": [folder / "clips.npy"],
        "indices": [folder / "index.jsonl"],
    }


def start(path: Path) -> Path:
    torch.manual_seed(0)
    size = architecture("tiny", FRAMES, PIXELS)
    save_checkpoint(path, NoiseEvaluator(size).state_dict(), size, "random weights")
    return path
