"""Files of the jobs that ask models for twins."""

from verified.benchmark.vcmr.jobs import run_folders, testing_inputs
from verified.config import Config
from verified.layout import Layout
from verified_twins.config import Twins


def twin_inputs(settings: Config, wildcards) -> dict[str, str]:
    """Inputs of a test, with the twins' sentences in place of the true ones."""
    inputs = testing_inputs(settings, wildcards)
    folder = f"results/{wildcards.dataset}/twins/{wildcards.twin}"
    inputs |= {"test": f"{folder}/test.jsonl", "text": f"{folder}/features/text-cog.h5"}
    if "ranked" in inputs:
        training = f"{folder}/retrieval/xml/{wildcards.trained_on}/seed-{wildcards.seed}"
        inputs["ranked"] = f"{training}/{wildcards.tested_on}/ranked-test.h5"
    return inputs


def true_submissions(settings: Config, dataset: str) -> list[str]:
    """Submissions of each model to the true sentences, by training."""
    return [
        f"{folder}/submission.json.gz"
        for model in settings.retrieval.names
        for folder in run_folders(settings, dataset, (model, "fig", "cog"))
    ]


def twin_submissions(settings: Config, dataset: str) -> list[str]:
    """Submissions of each model to the twins, by kind of twin and training."""
    folder = Layout(settings).path("results/{dataset}/twins", dataset)
    return [
        f"{folder}/{kind}/retrieval/{model}/fig/seed-{seed}/cog/submission.json.gz"
        for model in settings.retrieval.names
        for kind in settings.section(Twins).kinds
        for seed in settings.retrieval.seeds_of(model)
    ]
