"""Fine-tuning with perturbed captions (section 3.3, Equations 9 to 11), from files to files."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from verified.config.evaluator import Evaluator
from verified.config.params import deciding
from verified.errors import InputError
from verified.evaluator.checkpoint import load_checkpoint, read_header, save_checkpoint
from verified.evaluator.inputs import Tuples, epoch_order, files_of, make_batch, read_tuples, training_view
from verified.evaluator.model import TEMPERATURE, NoiseEvaluator, encode
from verified.evaluator.processes import processes, run_in_processes, share
from verified.evaluator.settings import architecture, job_needs
from verified.evaluator.training import Batch, Schedule, TrainingStep, train
from verified.io.jsonl import write_json, write_jsonl
from verified.nn.training import TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.seeds import generator as numpy_generator

log = logging.getLogger("verified")
LABEL = "fine-tuning"


@dataclass(frozen=True)
class FineTuning:
    """One fine-tuning: its inputs, its settings, and the files that it writes."""

    start: str
    """The checkpoint to start from."""
    datasets: list[dict]
    """See `read_tuples`."""
    settings: Evaluator
    seed: int
    checkpoint: str
    card: str
    record: str
    """One row a logged step."""


def run_finetuning(job: FineTuning) -> None:
    """Fine-tune and write checkpoint, card and log; in as many processes as the settings ask for."""
    inputs = [job.start, *files_of(job.datasets)]
    owner = fingerprint(modules_digest("verified.evaluator.finetune"), [deciding(job.settings), job.seed], inputs)
    run_in_processes(job.settings.processes, job.settings.gpus > 0, finetune_files, owner, job)


def finetune_files(device: torch.device, owner: dict[str, str], job: FineTuning) -> None:
    """`run_finetuning` in one process of the group."""
    settings = job.settings
    size = architecture(settings.size, settings.frames, settings.image_size)
    tuples = read_tuples(job.datasets, settings.splits)
    model = load_checkpoint(job.start, size)
    rank, _ = processes()
    if job_needs(size.size)["recompute"]:
        model.use_checkpointing()
    path = Path(job.checkpoint).with_name("unfinished-fine-tuning.safetensors")
    state = TrainingState(path, owner, settings.save_seconds)
    rows, counts = finetune(model, tuples, settings, job.seed, device, state)
    if rank:
        return
    origin = f"fine-tuned on {len(tuples)} moments; started from: {read_header(job.start)[1]}"
    write_jsonl(job.record, rows)
    test_splits = {entry.get("test_split", "test") for entry in job.datasets}
    write_json(job.card, evaluator_card(tuples, settings, job.seed, origin, counts, test_splits))
    save_checkpoint(job.checkpoint, model.state_dict(), size, origin)
    state.remove()


def finetune(
    model: NoiseEvaluator,
    tuples: Tuples,
    settings: Evaluator,
    seed: int,
    device: torch.device,
    state: TrainingState | None = None,
) -> tuple[list[dict], dict[str, int]]:
    """Fine-tune in place; returns log rows and counts (steps, captions cut at the token limit).

    The temperature starts from 0.07 again and is learnt. Items that do not fill a last batch wait for
    the next epoch, which has a different order, as in UMT.
    """
    size, per_epoch = settings.batch, len(tuples) // settings.batch
    if not per_epoch:
        remedy = "lower evaluator.batch, to 2 at least, or add moments"
        raise InputError(f"{len(tuples)} moments do not fill one batch of {size}", remedy=remedy)
    with torch.no_grad():
        model.temperature.fill_(TEMPERATURE)
    if settings.crop_share is None:
        model.vision.remember_frames()
    step = TrainingStep(model, settings.hard_negatives, settings.matching_normaliser)
    cut_at_limit = sum(encode(texts)[2] for texts in tuples.captions.values())

    def batch_of(number: int) -> Batch:
        epoch, turn = divmod(number, per_epoch)
        indices = epoch_order(len(tuples), seed, epoch)[turn * size : (turn + 1) * size]
        captions = {role: [texts[index] for index in indices] for role, texts in tuples.captions.items()}
        drawn = numpy_generator(seed, "evaluator frames", number)
        starts = drawn.integers(0, 2**63, size)
        frames = np.stack(
            [
                training_view(
                    tuples.clip(index),
                    model.size.frames,
                    model.size.image_size,
                    settings.crop_share,
                    np.random.default_rng(start),
                )
                for index, start in list(zip(indices, starts))[share(size, *processes())]
            ]
        )
        return make_batch(frames, captions, [tuples.names[index] for index in indices])

    steps = settings.epochs * per_epoch
    warmup = min(steps // 2, settings.warmup_epochs * per_epoch)
    schedule = Schedule(steps, warmup, settings.learning_rate, seed, precision=settings.precision)
    rows = train(step, batch_of, schedule, LABEL, device, state)
    return rows, {"steps": steps, "truncated_captions": cut_at_limit}


def evaluator_card(
    tuples: Tuples,
    settings: Evaluator,
    seed: int,
    origin: str,
    counts: dict[str, int],
    test_splits: set[str],
) -> dict:
    """Facts about an evaluator for readers of its scores."""
    return {
        "origin": origin,
        "seed": seed,
        "settings": deciding(settings),
        "moments_by_split": tuples.splits,
        "moments_left_out": tuples.left_out,
        "test_moments_seen_in_training": any(tuples.splits.get(split) for split in test_splits),
        "remark": "The coarse captions of the splits above and their perturbations were trained on; the fine-grained"
        " candidates that are scored were not.",
        **counts,
    }
