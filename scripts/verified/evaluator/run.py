"""One fine-tuning from files to files."""

from pathlib import Path

import torch

from verified.common.digest import modules_digest
from verified.common.job import set_threads
from verified.common.jsonl import write_json, write_jsonl
from verified.common.training_state import TrainingState, fingerprint
from verified.evaluator.architecture import architecture
from verified.evaluator.checkpoint import load_checkpoint, read_header, save_checkpoint
from verified.evaluator.finetune import finetune
from verified.evaluator.memory import log_estimate
from verified.evaluator.processes import processes, run_in_processes
from verified.evaluator.tuples import Tuples, files_of, read_tuples


def run_finetuning(
    start: str, datasets: list[dict], settings: dict, seed: int, threads: int, save_seconds: float, checkpoint: str,
    card: str, record: str,
) -> None:  # fmt: skip
    """Fine-tune the checkpoint `start` and write the result, its card and its log; in several processes if asked to.

    datasets: see `read_tuples`. settings: see `paths.fine_tuning`. While it runs, its state stands beside `checkpoint`.
    """
    owner = fingerprint(modules_digest("evaluator.run"), [settings, seed], [start, *files_of(datasets)])
    files = (str(start), datasets, settings, seed, threads, save_seconds, str(checkpoint), str(card), str(record))
    run_in_processes(settings["processes"], settings["gpus"] > 0, finetune_files, owner, *files)


def finetune_files(
    device: torch.device, owner: dict[str, str], start: str, datasets: list[dict], settings: dict, seed: int,
    threads: int, save_seconds: float, checkpoint: str, card: str, record: str,
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
    path = Path(checkpoint).with_name("unfinished-fine-tuning.safetensors")
    state = TrainingState(path, owner, save_seconds)
    rows, counts = finetune(model, tuples, settings, seed, device, state)
    if rank:
        return
    origin = f"fine-tuned on {len(tuples)} moments; started from: {read_header(start)[1]}"
    write_jsonl(record, rows)
    write_json(card, evaluator_card(tuples, settings, seed, origin, counts))
    save_checkpoint(checkpoint, model.state_dict(), size, origin)
    state.remove()


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
