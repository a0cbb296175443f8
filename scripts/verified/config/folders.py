"""Output folders of a configuration: all are below results/NAME, so that two configurations never collide.

A data set's folder is results/NAME if the data set has the configuration's name, and results/NAME/DATASET otherwise.
The rules' wildcard `dataset` is that folder without `results/`; `runtime.wildcards.key_of` gives the data set's key for
it.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

from verified.config import Config
from verified.config.datasets import DataSet
from verified.config.params import deciding
from verified.extension import added_stages
from verified.runtime.wildcards import key_of, one_of

Read = TypeVar("Read")
Given = ParamSpec("Given")


def home(settings: Config) -> str:
    """Folder of the outputs of the configuration as a whole."""
    return f"results/{settings.name}"


def dataset_wildcard(settings: Config, dataset: str) -> str:
    """The value of the wildcard `dataset` for the data set of this key."""
    return dataset if dataset == settings.name else f"{settings.name}/{dataset}"


def dataset_wildcards(settings: Config, datasets: Iterable[str]) -> list[str]:
    """The values of the wildcard `dataset` for the data sets of these keys."""
    return [dataset_wildcard(settings, dataset) for dataset in datasets]


def dataset_folder(settings: Config, dataset: str) -> str:
    """Folder of all outputs of one data set."""
    return f"results/{dataset_wildcard(settings, dataset)}"


def dataset_of(settings: Config, wildcards: Any) -> DataSet:
    """The settings of ``wildcards.dataset``."""
    return settings.datasets[key_of(wildcards.dataset)]


def dataset_pattern(settings: Config, datasets: Iterable[str]) -> str:
    """A wildcard constraint for data sets given by key; it matches nothing if there are none."""
    return one_of(dataset_wildcards(settings, datasets))


def shown_datasets(settings: Config, *abilities: str) -> list[str]:
    """Keys of the data sets in the tables and the report, in the order of the configuration.

    Only those whose source has all of `abilities`, as for `datasets_with`.
    """
    able = datasets_with(settings, *abilities)
    return [name for name in able if settings.tables is None or name in settings.tables]


def datasets_with(settings: Config, *abilities: str) -> list[str]:
    """Keys of the data sets whose source has all of `abilities` (attributes of `config.sources.SourceSection`)."""
    return [
        name
        for name, dataset in settings.datasets.items()
        if all(getattr(dataset.source, ability) for ability in abilities)
    ]


def filtered_pattern(settings: Config, filtered: bool) -> str:
    """A wildcard constraint for the data sets annotated here, either with or without a selection by an extension."""
    selections = [stage.selection for stage in added_stages() if stage.selection]
    selected = {name for selection in selections for name in selection.datasets(settings)}
    annotated = datasets_with(settings, "annotated_here")
    return dataset_pattern(settings, [name for name in annotated if (name in selected) == filtered])


def datasets_pattern(settings: Config) -> Callable[..., str]:
    """A function from abilities to the wildcard constraint for the data sets whose source has all of them."""
    return lambda *abilities: dataset_pattern(settings, datasets_with(settings, *abilities))


def files_of_datasets(settings: Config, pattern: str, datasets: Iterable[str], **wildcards: Iterable[str]) -> list[str]:
    """Files of several data sets, given by key, by a pattern below the folder of each.

    The other arguments are the values of the pattern's other wildcards; all combinations are returned.
    """
    return [
        f"{dataset_folder(settings, dataset)}/{pattern.format(**dict(zip(wildcards, values)))}"
        for dataset in datasets
        for values in itertools.product(*wildcards.values())
    ]


def section_values(settings: Config) -> Callable[[str], Callable[[Any], dict[str, Any]]]:
    """A function: the params function of one section of the settings of ``wildcards.dataset``, as plain values."""
    return lambda section: dataset_values(settings, lambda dataset: deciding(getattr(dataset, section)))


def dataset_labels(labels: dict[str, str], wildcards: Any) -> dict[str, str]:
    """Labels of a figure or page of ``wildcards.dataset`` in the report, with wildcards in `labels`."""
    texts = {name: text.format(**dict(wildcards.items())) for name, text in labels.items()}
    return {"data set": key_of(wildcards.dataset), **texts}


def dataset_values(settings: Config, read: Callable[[DataSet], Read]) -> Callable[[Any], Read]:
    """A params function: the result of `read` on the settings of ``wildcards.dataset``."""
    return lambda wildcards: read(dataset_of(settings, wildcards))


def shard_values(settings: Config, read: Callable[[Any, str, int], Read]) -> Callable[[Any], Read]:
    """A params function: the result of `read` on the source of a data set, a shard and the number of shards."""
    return lambda wildcards: read(dataset_of(settings, wildcards).source, wildcards.shard, settings.shards)


def key_values(
    settings: Config, read: Callable[Concatenate[Config, str, Given], Read], *args: Given.args, **named: Given.kwargs
) -> Callable[[Any], Read]:
    """An input or params function: the result of `read` for the key of ``wildcards.dataset``."""
    return lambda wildcards: read(settings, key_of(wildcards.dataset), *args, **named)


def evaluator_folder(settings: Config) -> str:
    """Folder of the evaluator, named by the data sets that it is fine-tuned on."""
    return f"{home(settings)}/evaluator/{'+'.join(finetuning_datasets(settings)) or 'none'}"


def finetuning_datasets(settings: Config) -> list[str]:
    """Data sets whose perturbed captions the evaluator is fine-tuned on: all with videos."""
    return datasets_with(settings, "has_videos")
