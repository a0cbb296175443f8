"""Inputs and outputs of the rules on study and review."""

from collections.abc import Callable

from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with
from verified.config.trust import confidence_warning
from verified.errors import InputError
from verified.runtime.wildcards import key_of


def page_folders(settings: Config, kind: str) -> Callable[[object], list[str]]:
    """An input function: the pages of every data set that the workflow annotates. Raises InputError if there is
    none."""

    def folders(wildcards) -> list[str]:
        shown = datasets_with(settings, "annotated_here")
        if not shown:
            raise InputError(
                "no data set of this configuration is annotated from its videos",
                remedy="the pages show clips of moments with their captions",
            )
        return [f"{dataset_folder(settings, name)}/{kind}/pages" for name in shown]

    return folders


def review_warning(settings: Config) -> Callable[[object], str]:
    """A params function: the warning to reviewers of ``wildcards.dataset`` about its confidences, or an empty text."""

    def warning(wildcards) -> str:
        return confidence_warning(settings, key_of(wildcards.dataset))

    return warning
