"""Tunes retrieval models by one budget, and keeps every trial: which settings a comparison of them was made with.

    python -m benchmarks.tuning xml hero reloclnet conquer squidnet
    python -m benchmarks.tuning xml --trials 4 --configfile config/config.yaml

Each model gets the same number of trials. The first is what the configuration says today; the others are drawn from
`SPACE`, the same for all models, by the configuration's seed. A trial is trained with each seed of `--seeds`, none of
which the tables use, on the fine captions of the train split, and scored on the split that trainings are selected on;
the test split is not read. The score is the mean of VCMR 0.5/r1, 0.7/r1, 0.5/r10 and 0.7/r10 over the seeds. The
best trial wins; it enters the configuration by hand. Widths and epochs stay as configured: they set the time.

Two-stage models read XML's lists: XML, where asked for, is tuned before them and its best trial ranks the videos.
The features and annotations of the configuration must be built. Trials that the log holds are not run again.
"""

import argparse
import json
import random
import resource
from pathlib import Path
from types import SimpleNamespace

from verified.config import Config, read
from verified.runtime.job import log_to, set_threads, take_environment
from verified.runtime.seeds import derive_seed

PROJECT = Path(__file__).resolve().parents[1]
LOG = Path(__file__).with_name("tuning.jsonl")
TRAININGS = Path(__file__).with_name("results") / "tuning"
METRICS = ("0.5/r1", "0.7/r1", "0.5/r10", "0.7/r10")

SPACE = {
    "learning_rate": lambda draw: float(f"{10 ** draw.uniform(-3.7, -2.5):.1e}"),
    "batch": lambda draw: draw.choice([16, 32, 64]),
    "dropout": lambda draw: draw.choice([0.0, 0.1, 0.2]),
    "span_weight": lambda draw: float(f"{10 ** draw.uniform(-2, 0):.1e}"),
}
"""What is drawn for each trial; learning rate and batch are the recipe's, the others options of the model."""
RECIPE = ("learning_rate", "batch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--configfile", default=PROJECT / "config" / "demo-full.yaml", type=Path)
    parser.add_argument("--built", default="results/demo", help="folder of the data set whose features are built")
    parser.add_argument("--log", type=Path, default=LOG)
    options = parser.parse_args()
    take_environment()
    settings = read(options.configfile)
    set_threads(settings.retrieval.threads)
    log_to()
    rows = [json.loads(line) for line in options.log.read_text().splitlines()] if options.log.exists() else []
    for model in options.models:
        for number in range(options.trials):
            if any((row["model"], row["trial"]) == (model, number) for row in rows):
                continue
            row = trial(settings, options, model, number, rows)
            rows.append(row)
            with options.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
        print(f"{model}: {json.dumps(best(rows, model))}", flush=True)


def best(rows: list[dict], model: str) -> dict:
    """The trial of a model with the highest score; the earlier one of two equal ones."""
    return max((row for row in rows if row["model"] == model), key=lambda row: row["score"])


def drawn(settings: Config, model: str, number: int) -> dict:
    """The settings of a trial that differ from the configuration's: none of the first."""
    if number == 0:
        return {}
    draw = random.Random(derive_seed(settings.seed, "tuning", model, number))
    return {name: choose(draw) for name, choose in SPACE.items()}


def trial(settings: Config, options: argparse.Namespace, model: str, number: int, rows: list[dict]) -> dict:
    """Train and score one trial with every seed; the row for the log."""
    changes, before = drawn(settings, model, number), resource.getrusage(resource.RUSAGE_SELF)
    scores = [score(settings, options, model, number, changes, seed, rows) for seed in options.seeds]
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "model": model,
        "trial": number,
        "changes": changes,
        "seeds": options.seeds,
        "score": round(sum(sum(values.values()) for values in scores) / len(METRICS) / len(scores), 3),
        "selection_split": scores,
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
    }


def score(settings, options, model: str, number: int, changes: dict, seed: int, rows: list[dict]) -> dict[str, float]:
    """VCMR of one training on the selection split, in percent by metric."""
    from verified.benchmark.vcmr.experiment import (
        Settings,
        rank_videos,
        test_model,
        train_model,
    )
    from verified.benchmark.vcmr.jobs import ranking_settings, testing_settings, training_inputs, training_settings
    from verified.benchmark.vcmr.registry import is_two_stage

    folder = TRAININGS / model / f"trial-{number}" / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    wildcards = SimpleNamespace(
        dataset=options.built.removeprefix("results/"), model=model, trained_on="fig", tested_on="fig", seed=seed
    )
    values, dataset = training_settings(settings, wildcards), options.built.rsplit("/", 1)[-1]
    values["training"] |= {name: changes[name] for name in RECIPE if name in changes}
    values["training"]["options"] |= {name: changes[name] for name in changes if name not in RECIPE}
    training, testing = Settings(**values), Settings(**testing_settings(settings, dataset))
    files = training_inputs(settings, wildcards)
    lists = folder
    if is_two_stage(model):
        lists = TRAININGS / "xml" / f"trial-{best(rows, 'xml')['trial']}" / f"seed-{seed}"
        files["ranked"] = str(lists / "ranked-train.h5")
    checkpoint, record = str(folder / "checkpoint.safetensors"), str(folder / "log.jsonl")
    train_model(model, "fig", seed, files, training, checkpoint, record)
    tested = {"video": files["video"], "text": files["text"], "test": files["selection"], "checkpoint": checkpoint}
    if model == "xml":
        searching = Settings(**ranking_settings(settings, dataset), features=training.features)
        rank_videos({**files, "checkpoint": checkpoint}, "fig", searching, str(folder / "ranked-train.h5"))
        rank_videos(tested, "fig", searching, str(folder / "ranked-test.h5"))
    test_model(
        {**tested, "ranked": str(lists / "ranked-test.h5")},
        {"tested_on": "fig"},
        testing,
        [],
        str(folder / "submission.json.gz"),
        str(folder / "metrics.json"),
        str(folder / "per_query.npz"),
    )
    vcmr = json.loads((folder / "metrics.json").read_text())["metrics"]["VCMR"]
    return {name: vcmr[name] for name in METRICS}


if __name__ == "__main__":
    main()
