"""Locations of a data set's annotations, for the rules that make and read them."""

from collections.abc import Callable

from verified.config import Config
from verified.config.folders import dataset_of
from verified.config.sources import PublishedSource, ReleasedSource
from verified.config.trust import confidence_warning
from verified.corpus.splits import HELD_OUT
from verified.errors import InputError
from verified.released.collections import Release, resolve
from verified.runtime.wildcards import key_of


def release_of(settings: Config, dataset: str) -> Release | None:
    """The release behind a data set of finished annotations; None for a data set that the workflow annotates."""
    source = settings.datasets[dataset].source
    return resolve(source) if isinstance(source, ReleasedSource) else None


def check_releases(settings: Config) -> None:
    """Raise InputError, naming the data set, for a release of which nothing is available.

    Of published annotations that the workflow works on, the splits to train on, select on and test on must be there.
    """
    for name, dataset in settings.datasets.items():
        try:
            release_of(settings, name)
            if isinstance(dataset.source, PublishedSource):
                _check_splits(resolve(dataset.source), annotation_splits(settings, name))
        except InputError as error:
            raise InputError(f"datasets.{name}.source: {error}") from None


def _check_splits(release: Release, needed: list[str]) -> None:
    for split in needed:
        if split in release.missing:
            raise InputError(f"split {split!r} of {release.collection} is not at hand", remedy=release.missing[split])
        if split not in release.files and split != HELD_OUT:
            raise InputError(
                f"{release.collection} has no split {split!r}", remedy=f"it has {', '.join(release.files)}"
            )


def annotation_splits(settings: Config, dataset: str) -> list[str]:
    """Splits of `dataset` that have annotations: those of its release, or train, selection and test, each once."""
    release = release_of(settings, dataset)
    if release:
        return release.splits
    spans = settings.datasets[dataset].spans
    return list(dict.fromkeys([spans.train_split, spans.selection_split, spans.test_split]))


def missing_splits(settings: Config) -> Callable[[object], list[str]]:
    """A params function: splits of the published collection that are not at hand; none for one annotated here."""

    def splits(wildcards) -> list[str]:
        release = release_of(settings, key_of(wildcards.dataset))
        return list(release.missing) if release else []

    return splits


def annotation_files(settings: Config, kind: str) -> Callable[[object], list[str]]:
    """An input function: the JSONL files of all splits of ``wildcards.dataset`` in ``annotations/kind``.

    A release of coarse captions only has them in ``annotations/cog``, whatever `kind` is asked for.
    """

    def files(wildcards) -> list[str]:
        release = release_of(settings, key_of(wildcards.dataset))
        folder = f"results/{wildcards.dataset}/annotations/{release.kind if release else kind}"
        return [f"{folder}/{split}.jsonl" for split in annotation_splits(settings, key_of(wildcards.dataset))]

    return files


def selection_files(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the selected and dropped captions of each split of ``wildcards.dataset``."""

    def files(wildcards) -> list[str]:
        splits = annotation_splits(settings, key_of(wildcards.dataset))
        return [f"results/{wildcards.dataset}/annotations/selection/{split}.json" for split in splits]

    return files


def review_outcomes(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the outcome of reviewers' decisions, where the configuration names files of them."""

    def files(wildcards) -> list[str]:
        return [f"results/{wildcards.dataset}/annotations/review/settled.json"] if settings.annotations.review else []

    return files


def annotated_splits(settings: Config) -> Callable[[object], list[str]]:
    """A params function: `annotation_splits` of ``wildcards.dataset``."""

    def splits(wildcards) -> list[str]:
        return annotation_splits(settings, key_of(wildcards.dataset))

    return splits


def compared_candidates(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the scores that candidates are compared by, if they are chosen that way."""
    name = {"agreement": "agreement", "encoder": "similarities"}.get(settings.annotations.choose_by)

    def files(wildcards) -> list[str]:
        return [f"results/{wildcards.dataset}/annotations/{name}.jsonl"] if name else []

    return files


def card_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: origin of a data set for its card (title, licence, configuration, models by role)."""

    def facts(wildcards) -> dict:
        generation = settings.generation
        return {
            "name": key_of(wildcards.dataset),
            "title": dataset_of(settings, wildcards).title,
            "licence": settings.annotations.licence,
            "config": settings.name,
            "chosen_by": settings.annotations.choose_by,
            "warning": confidence_warning(settings, key_of(wildcards.dataset)),
            "models": {
                "Language model": generation.llm.model,
                "Image model": generation.image_lmm.model,
                "Video model": generation.video_lmm.model,
                "Evaluator": settings.evaluator.name,
            },
        }

    return facts
