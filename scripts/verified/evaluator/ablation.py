"""What fine-tuning and its disturbed negatives are worth: three evaluators, the same graded captions."""

import logging
import tempfile
from pathlib import Path

import torch

from verified.common.jsonl import read_jsonl, write_json
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.clips import open_clips
from verified.evaluator.graded import confidences, spoiled_candidates, unseen_perturbations
from verified.evaluator.run import run_finetuning
from verified.evaluator.validation import areas

log = logging.getLogger("verified")


def ablate(
    start: str, checkpoint: str, datasets: list[dict], captions: dict[str, dict], settings: dict, seed: int,
    resamples: int, threads: int, output: str,
) -> None:  # fmt: skip
    """Write rows {dataset, set, variant, static, dynamic} of AUROCs (see validation.areas).

    Variants: ``no fine-tuning`` (the checkpoint `start`), ``hard_negatives none`` (fine-tuned here, alike in all else)
    and ``hard_negatives X`` (`checkpoint`, X as configured). captions: data set → lists of files `captions` and
    `spoiled`, for data sets whose truth is known.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = []
    with tempfile.TemporaryDirectory(prefix="ablation-") as folder:
        plain = Path(folder, "checkpoint.safetensors")
        without = {**settings, "hard_negatives": "none"}
        run_finetuning(
            start, datasets, without, seed, threads, plain, Path(folder, "card.json"), Path(folder, "log.jsonl")
        )
        variants = {
            "no fine-tuning": start,
            "hard_negatives none": plain,
            f"hard_negatives {settings['hard_negatives']}": checkpoint,
        }
        for variant, path in variants.items():
            model = load_checkpoint(path)
            for dataset in datasets:
                for name, graded in _graded(dataset, captions.get(dataset["name"])).items():
                    indices = [read_jsonl(file) for file in dataset["indices"]]
                    clips = [open_clips(*pair) for pair in zip(dataset["clips"], indices)]
                    kept, values = confidences(model, graded, clips, indices, device, settings["precision"])
                    found = areas(kept, values[settings["confidence"]], resamples, seed)
                    rows.append({"dataset": dataset["name"], "set": name, "variant": variant, **found})
                    log.info("%s, %s: %s", variant, name, found)
    write_json(output, rows)


def _graded(dataset: dict, truth: dict | None) -> dict[str, list]:
    perturbations = [row for file in dataset["perturbations"] for row in read_jsonl(file)]
    sets = {"perturbations": unseen_perturbations(perturbations)}
    if truth:
        captions, spoiled = (
            [row for file in truth[key] for row in read_jsonl(file)] for key in ("captions", "spoiled")
        )
        sets["spoiled"] = spoiled_candidates(captions, spoiled)
    return sets
