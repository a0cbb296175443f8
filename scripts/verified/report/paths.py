"""What the rules of the report read, by the kind of source of a data set."""

from collections.abc import Callable

from verified.annotations.paths import annotation_files, release_of
from verified.common.errors import InputError
from verified.common.shards import shard_names
from verified.config import Config
from verified.figures.paths import figures_of


def browser_inputs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: the files behind the caption browser of ``wildcards.dataset``."""
    annotations = annotation_files(settings, "fig")

    def files(wildcards) -> dict[str, list[str]]:
        if release_of(settings, wildcards.dataset):
            return {"annotations": annotations(wildcards)}
        folder, shards = f"results/{wildcards.dataset}", shard_names(settings.shards)
        return {
            "annotations": annotations(wildcards),
            "moments": [f"{folder}/corpus/moments.jsonl"],
            "scores": [f"{folder}/evaluator/scores/{shard}.jsonl" for shard in shards],
            "captions": [f"{folder}/captions/{kind}/{shard}.jsonl" for kind in ("statics", "dynamics")
                         for shard in shards],
            "keyframes": [f"{folder}/keyframes/{shard}.tar" for shard in shards],
        }  # fmt: skip

    return files


def browser_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: title, origin and kind of ``wildcards.dataset``, and where the ledger is."""

    def facts(wildcards) -> dict:
        dataset = settings.datasets[wildcards.dataset]
        return {
            "title": dataset.title,
            "origin": f"Configuration {settings.name}, seed {settings.seed}; source: {dataset.source.kind}.",
            "released": dataset.source.kind == "released",
            "ledger": settings.generation.ledger,
        }

    return facts


def title_of(settings: Config) -> Callable[[object], str]:
    """A params function: the title of ``wildcards.dataset``."""

    def title(wildcards) -> str:
        return settings.datasets[wildcards.dataset].title

    return title


def annotated_here(settings: Config) -> list[str]:
    """Data sets that the workflow annotates itself, from videos."""
    return [name for name, dataset in settings.datasets.items() if dataset.source.kind != "released"]


def study_pages(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the pages of every study. Raises InputError where no data set has videos to show."""

    def folders(wildcards) -> list[str]:
        if not annotated_here(settings):
            raise InputError(
                "no data set of this configuration comes from videos", remedy="a study shows clips of the moments"
            )
        return [f"results/{name}/study/pages" for name in annotated_here(settings)]

    return folders


def report_files(settings: Config) -> list[str]:
    """Every file that the report shows: tables, summary, and each data set's figures and captions."""
    files = ["results/tables", "results/report/summary.html", "results/report/verdicts.html"]
    for name in settings.datasets:
        files.append(f"results/report/{name}/captions.html")
        files += [f"results/figures/{name}/{figure}.svg" for figure in figures_of(settings, name)]
    if annotated_here(settings):
        files.append(f"results/figures/evaluator/{settings.evaluator.name}.svg")
    return files
