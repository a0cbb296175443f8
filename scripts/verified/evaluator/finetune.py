"""Fine-tuning with disturbed captions (section 3.3, Equations 9 to 11)."""

import numpy as np
import torch

from verified.common.errors import InputError
from verified.common.seeds import generator as numpy_generator
from verified.common.training_state import TrainingState
from verified.evaluator.batches import epoch_order, make_batch
from verified.evaluator.model import TEMPERATURE, NoiseEvaluator
from verified.evaluator.processes import processes, share
from verified.evaluator.sampling import training_view
from verified.evaluator.step import Batch, TrainingStep
from verified.evaluator.tokens import encode
from verified.evaluator.training import Schedule, train
from verified.evaluator.tuples import Tuples

LABEL = "fine-tuning"


def finetune(
    model: NoiseEvaluator,
    tuples: Tuples,
    settings: dict,
    seed: int,
    device: torch.device,
    state: TrainingState | None = None,
) -> tuple[list[dict], dict[str, int]]:
    """Fine-tune in place; returns log rows and counts (steps, captions cut at the token limit).

    settings: epochs, warmup_epochs, batch, learning_rate, crop_share, hard_negatives, matching_normaliser and precision
    of the config. The temperature starts from 0.07 again and is learnt. Items that do not fill a last batch wait for
    the next epoch's other order, as in UMT.
    """
    size, per_epoch = settings["batch"], len(tuples) // settings["batch"]
    if not per_epoch:
        raise InputError(
            f"{len(tuples)} moments do not fill one batch of {size}", remedy="lower evaluator.batch or add moments"
        )
    with torch.no_grad():
        model.temperature.fill_(TEMPERATURE)
    step = TrainingStep(model, settings["hard_negatives"], settings["matching_normaliser"])
    cut_at_limit = sum(encode(texts)[2] for texts in tuples.captions.values())

    def batch_of(number: int) -> Batch:
        epoch, place = divmod(number, per_epoch)
        items = epoch_order(len(tuples), seed, epoch)[place * size : (place + 1) * size]
        captions = {role: [texts[item] for item in items] for role, texts in tuples.captions.items()}
        drawn = numpy_generator(seed, "evaluator frames", number)
        starts = drawn.integers(0, 2**63, size)
        frames = np.stack([
            training_view(
                tuples.clip(item), model.size.frames, model.size.image_size, settings["crop_share"],
                np.random.default_rng(start),
            )
            for item, start in list(zip(items, starts))[share(size, *processes())]
        ])  # fmt: skip
        return make_batch(frames, captions, [tuples.names[item] for item in items])

    steps = settings["epochs"] * per_epoch
    warmup = min(steps // 2, settings["warmup_epochs"] * per_epoch)
    schedule = Schedule(steps, warmup, settings["learning_rate"], seed, precision=settings["precision"])
    rows = train(step, batch_of, schedule, LABEL, device, state)
    return rows, {"steps": steps, "truncated_captions": cut_at_limit}
