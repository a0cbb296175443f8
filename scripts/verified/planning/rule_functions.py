"""Functions of rules: errors as Snakemake shows its own, outputs of figures, and inputs of pages."""

from functools import partial
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.io import report

from verified.config import Config
from verified.config.folders import dataset_labels, datasets_with, files_of_datasets
from verified.corpus.inventory import check_enough
from verified.errors import InputError


class StopsRun:
    """A block that stops the run at a user's error, with its message and the place in the rules."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, InputError):
            raise WorkflowError(f"error: {error}") from None


def figure(name: str, shows: str, place: str, home: str = "") -> list[Any]:
    """Outputs of a figure of a data set: SVG, which the report shows, PNG and CSV; `place`: its number in the paper.

    With the run's folder `home`: of a figure of all data sets.
    """
    stem, labels = f"results/{{dataset}}/figures/{name}", partial(dataset_labels, {"shows": shows, "as": place})
    if home:
        stem, labels = f"{home}/figures/{name}", {"data set": "all", "shows": shows, "as": place}
    plot = report(f"{stem}.svg", caption=f"../report/{name}.rst", category="Figures", labels=labels)
    return [plot, f"{stem}.png", f"{stem}.csv"]


def page_inputs(settings: Config, kind: str, wildcards: object) -> list[str]:
    """Inputs of a rule: pages for people of every annotated data set. Raises InputError without one."""
    if not (names := datasets_with(settings, "annotated_here")):
        raise InputError(
            "no data set of this configuration is annotated from its videos",
            remedy="the pages show clips of moments with their captions",
        )
    return files_of_datasets(settings, f"{kind}/pages", names)


def require_moments(settings: Config, runs: bool, wildcards: object) -> list[str]:
    """No inputs of a rule: stops a run whose corpora are too small for the evaluator before any model call.

    Nothing stops if nothing `runs`, as in a dry run.
    """
    with StopsRun():
        if runs:
            check_enough(settings)
    return []
