"""One fine-tuning from files to files."""

import hashlib
from pathlib import Path

import torch

from verified.common.digest import code_digest
from verified.common.job import set_threads
from verified.common.jsonl import write_json, write_jsonl
from verified.evaluator.architecture import architecture
from verified.evaluator.checkpoint import load_checkpoint, read_header, save_checkpoint
from verified.evaluator.distributed import processes
from verified.evaluator.finetune import finetune
from verified.evaluator.launch import run_in_processes
from verified.evaluator.memory import log_estimate
from verified.evaluator.resume import fingerprint
from verified.evaluator.training import Savings
from verified.evaluator.tuples import Tuples, read_tuples

SAVE_SECONDS = {"tiny": 60.0, "L/16": 900.0}
"""Between two states of the training on disk; one of L/16 is 8 GB."""


def run_finetuning(
    start: str, datasets: list[dict], settings: dict, seed: int, threads: int, checkpoint: str, card: str, record: str
) -> None:
    """Fine-tune the checkpoint `start` and write the result, its card and its log; in several processes if asked to.

    datasets: see `read_tuples`. settings: see `paths.fine_tuning`. While it runs, its state stands beside `checkpoint`.
    """
    arguments = (str(start), datasets, settings, seed, threads, str(checkpoint), str(card), str(record))
    run_in_processes(settings["gpus"], finetune_files, *arguments)


def finetune_files(
    device: torch.device, start: str, datasets: list[dict], settings: dict, seed: int, threads: int, checkpoint: str,
    card: str, record: str,
) -> None:  # fmt: skip
    """`run_finetuning` in one process of the group."""
    set_threads(threads)
    size = architecture(settings["size"], settings["frames"], settings["image_size"])
    tuples = read_tuples(datasets, settings["splits"])
    model = load_checkpoint(start, size)
    rank, world = processes()
    if size.size == "L/16":
        model.use_checkpointing()
        log_estimate(size, settings["batch"] // world)
    name = fingerprint(
        settings, seed, world, tuples.names, tuples.captions, file_digest(start), code_digest("evaluator")
    )
    state = Path(checkpoint).with_name(".finetuning-state.safetensors")
    rows, counts = finetune(model, tuples, settings, seed, device, Savings(state, name, SAVE_SECONDS[size.size]))
    if rank:
        return
    origin = f"fine-tuned on {len(tuples)} moments; started from: {read_header(start)[1]}"
    write_jsonl(record, rows)
    write_json(card, evaluator_card(tuples, settings, seed, origin, counts))
    save_checkpoint(checkpoint, model.state_dict(), size, origin)
    state.unlink(missing_ok=True)


def file_digest(path: str) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
