"""What the rules of the review read and write."""

from collections.abc import Callable

from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with
from verified.config.trust import confidence_warning
from verified.runtime.folders import key_of


def table_files(settings: Config) -> list[str]:
    """The tables of the review of each data set, where the configuration names files of decisions."""
    if not settings.annotations.review:
        return []
    return [
        f"{dataset_folder(settings, name)}/annotations/review/tables.json"
        for name in datasets_with(settings, "annotated_here")
    ]


def page_folders(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the review pages of every data set that the workflow annotates."""

    def folders(wildcards) -> list[str]:
        return [f"{dataset_folder(settings, name)}/review/pages" for name in datasets_with(settings, "annotated_here")]

    return folders


def review_warning(settings: Config) -> Callable[[object], str]:
    """A params function: what reviewers of ``wildcards.dataset`` are to know of its confidences, or nothing."""

    def warning(wildcards) -> str:
        return confidence_warning(settings, key_of(wildcards.dataset))

    return warning
