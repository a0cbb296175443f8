"""Whether a corpus is large enough for what a run will do with it, checked before anything is paid for."""

from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder, evaluator_folder, finetuning_datasets
from verified.corpus.unprobed import unprobed_moments
from verified.errors import InputError


def check_enough(settings: Config) -> None:
    """Raise InputError where the evaluator would be fine-tuned on fewer moments than a batch.

    Moments are counted without opening a video. A source that cannot be counted yet is left to its own jobs.
    """
    names = [name for name in finetuning_datasets(settings) if not settings.datasets[name].source.rendered]
    if Path(evaluator_folder(settings), "checkpoint.safetensors").exists():
        return
    if len(names) < len(finetuning_datasets(settings)):
        return
    count = 0
    for name in names:
        try:
            corpus = f"{dataset_folder(settings, name)}/corpus"
            count += len(unprobed_moments(settings.datasets[name].source, corpus))
        except InputError:
            return
        if count >= settings.evaluator.batch:
            return
    if count:
        raise InputError(
            f"{count} usable moments are too few for the evaluator's batches of {settings.evaluator.batch}",
            remedy=f"set evaluator.batch to {max(2, count)} or less, or add moments; nothing was asked of any model",
        )
