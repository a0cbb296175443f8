"""One fine-tuning from files to files."""

import torch

from verified.common.job import set_threads
from verified.common.jsonl import write_json, write_jsonl
from verified.evaluator.architecture import architecture
from verified.evaluator.checkpoint import load_checkpoint, read_header, save_checkpoint
from verified.evaluator.finetune import finetune
from verified.evaluator.tuples import Tuples, read_tuples


def run_finetuning(
    start: str, datasets: list[dict], settings: dict, seed: int, threads: int, checkpoint: str, card: str, record: str
) -> None:
    """Fine-tune the checkpoint `start` and write the result, its card and its log.

    datasets: see `read_tuples`. settings: see `paths.fine_tuning`.
    """
    set_threads(threads)
    size = architecture(settings["size"], settings["frames"], settings["image_size"])
    tuples = read_tuples(datasets, tuple(settings["splits"]))
    model = load_checkpoint(start, size)
    rows, counts = finetune(model, tuples, settings, seed, torch.device("cuda" if settings["gpus"] else "cpu"))
    origin = f"fine-tuned on {len(tuples)} moments; started from: {read_header(start)[1]}"
    save_checkpoint(checkpoint, model.state_dict(), size, origin)
    write_jsonl(record, rows)
    write_json(card, evaluator_card(tuples, settings, seed, origin, counts))


def evaluator_card(tuples: Tuples, settings: dict, seed: int, origin: str, counts: dict[str, int]) -> dict:
    """What a reader of the scores must know of the evaluator behind them."""
    return {
        "origin": origin,
        "seed": seed,
        "settings": settings,
        "moments_by_split": tuples.splits,
        "moments_left_out": tuples.left_out,
        "test_moments_seen_in_training": tuples.splits.get("test", 0) > 0,
        "remark": "The coarse captions of the splits above and their perturbations were trained on; the fine-grained"
        " candidates that are scored were not.",
        **counts,
    }
