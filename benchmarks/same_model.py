"""How many differences the tables would call significant between trainings that differ in their seed alone.

    python -m benchmarks.same_model xml reloclnet late_span    # nine trainings each; the demo's features must be built

Three trainings stand against three others, as in the tables, in all ways in which nine can be dealt out, in every
metric: the share with p < .05, which should not exceed 5 %. benchmarks/significance.py asks the same of simulated
models, as often as wanted; here the trainings are real, and nine.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
from benchmarks.demo_trainings import train_and_test

from verified.benchmark.intervals import difference
from verified.benchmark.vcmr.per_query import read_per_query
from verified.config import read
from verified.runtime.job import log_to, set_threads, take_environment

PROJECT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_name("results") / "same_model"
SEEDS, SIDE, LEVEL = range(1, 10), 3, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="one-stage models of the demo")
    options = parser.parse_args()
    take_environment()
    settings = read(PROJECT / "config" / "demo-full.yaml")
    set_threads(settings.retrieval.threads)
    log_to()
    print("| model | trainings | VCMR 0.5/r1 | comparisons | significant, % |\n|---|---|---|---|---|")
    for model in options.models:
        tested = [train_and_test(settings, model, seed, FOLDER / model, {})[0] for seed in SEEDS]
        recall = [metrics["metrics"]["VCMR"]["0.5/r1"] for metrics in tested]
        found = significant(FOLDER / model / f"seed-{seed}" for seed in SEEDS)
        spread = f"{np.mean(recall):.2f} ±{np.std(recall, ddof=1):.2f}"
        print(f"| {model} | {len(recall)} | {spread} | {found.size} | {100 * found.mean():.1f} |", flush=True)


def significant(folders) -> np.ndarray:
    """[ways of dealing out, metrics] whether three trainings differ from three others."""
    answers = read_per_query(folders)
    values = np.stack(list(answers.values.values()), axis=2)
    everyone, rows = range(len(values)), []
    for first in itertools.combinations(everyone, SIDE):
        for second in itertools.combinations([one for one in everyone if one not in first], SIDE):
            if first < second:
                rows.append(difference(values[list(first)], values[list(second)], answers.video).p < LEVEL)
    return np.stack(rows)


if __name__ == "__main__":
    main()
