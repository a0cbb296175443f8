"""Trainings of a retrieval model on the built demo, beside those of its tables."""

import json
import resource
from pathlib import Path
from types import SimpleNamespace

from verified.config import Config


def train_and_test(settings: Config, model: str, seed: int, folder: Path, options: dict) -> tuple[dict, float]:
    """Train on the demo's fine captions and test on its test split, in `folder`/seed-SEED; what stands there counts.

    `options` differ from the configuration's. Returns the metrics and the processor seconds of the training.
    """
    from verified.benchmark.vcmr.experiment import test_model, train_model
    from verified.benchmark.vcmr.paths import testing_inputs, training_inputs, training_settings
    from verified.benchmark.vcmr.settings import TrainingSettings

    folder = folder / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    metrics, spent = folder / "metrics.json", folder / "seconds.json"
    if not spent.exists():
        wildcards = SimpleNamespace(dataset="demo", model=model, trained_on="fig", tested_on="fig", seed=seed)
        values = training_settings(settings)(wildcards)
        values["options"] = {**values["options"], **options}
        training = TrainingSettings(**values)
        checkpoint, began = str(folder / "checkpoint.safetensors"), _processor_seconds()
        files, record = training_inputs(settings)(wildcards), str(folder / "log.jsonl")
        train_model(model, "fig", seed, files, training, checkpoint, record)
        seconds = _processor_seconds() - began
        test_model(
            {**testing_inputs(settings)(wildcards), "checkpoint": checkpoint},
            {"tested_on": "fig"},
            training,
            [],
            str(folder / "submission.json.gz"),
            str(metrics),
            str(folder / "per_query.npz"),
        )
        spent.write_text(json.dumps(seconds))
    return json.loads(metrics.read_text()), json.loads(spent.read_text())


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
