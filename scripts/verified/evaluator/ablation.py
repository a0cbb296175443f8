"""What fine-tuning and its disturbed negatives are worth: several evaluators, the same graded captions."""

import logging

import torch

from verified.common.jsonl import read_jsonl, write_json
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.clips import open_clips
from verified.evaluator.graded import confidences, spoiled_candidates, unseen_perturbations
from verified.evaluator.validation import areas

log = logging.getLogger("verified")


def ablate(
    checkpoints: dict[str, str], datasets: list[dict], captions: dict[str, dict], confidence: str,
    precision: str, seed: int, resamples: int, output: str,
) -> None:  # fmt: skip
    """Write rows {dataset, set, variant, static, dynamic} of AUROCs (see validation.areas).

    checkpoints: variant → its file. captions: data set → lists of files `captions` and `spoiled`, for data sets whose
    truth is known.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = []
    for variant, path in checkpoints.items():
        model = load_checkpoint(path)
        for dataset in datasets:
            for name, graded in _graded(dataset, captions.get(dataset["name"])).items():
                indices = [read_jsonl(file) for file in dataset["indices"]]
                clips = [open_clips(file, index) for file, index in zip(dataset["clips"], indices)]
                kept, values = confidences(model, graded, clips, indices, device, precision)
                found = areas(kept, values[confidence], resamples, seed)
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
