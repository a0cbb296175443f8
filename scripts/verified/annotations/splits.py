"""Splits of a data set's annotations, by the kind of its source, and their files."""

from verified.config import Config
from verified.config.features import CAPTIONS
from verified.config.sources import PublishedSource, ReleasedSource
from verified.corpus.splits import HELD_OUT
from verified.errors import InputError
from verified.layout import Layout
from verified.released.collections import Release, resolve
from verified.runtime.wildcards import key_of


def release_of(settings: Config, dataset: str) -> Release | None:
    """The release behind a data set of finished annotations; None for a data set that the workflow annotates."""
    source = settings.datasets[dataset].source
    return resolve(source) if isinstance(source, ReleasedSource) else None


def finest_captions(settings: Config, dataset: str) -> str:
    """``fig``, or ``cog`` for a release with coarse captions alone."""
    release = release_of(settings, dataset)
    return release.kind if release else "fig"


def check_releases(settings: Config) -> None:
    """Raise InputError, naming the data set, for a release of which nothing is available.

    Published annotations that the workflow processes must have the splits to train on, select on and test on.
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
            raise InputError(f"split {split!r} of {release.collection} is not available", remedy=release.missing[split])
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


def missing_splits(settings: Config, dataset: str) -> list[str]:
    """Unavailable splits of the published collection; none for a data set that the workflow annotates."""
    release = release_of(settings, dataset)
    return list(release.missing) if release else []


def annotation_files(settings: Config, dataset: str, kind: str = "fig") -> list[str]:
    """The JSONL files of all splits in ``annotations/kind``."""
    return [annotation_file(settings, dataset, kind, split) for split in annotation_splits(settings, dataset)]


def annotation_file(settings: Config, dataset: str, kind: str, split: str) -> str:
    """The JSONL file of one split in ``annotations/kind``.

    A release has one file for all of `kind`: in ``annotations/cog`` if it has coarse captions only, else ``fig``.
    """
    release, layout = release_of(settings, dataset), Layout(settings)
    return layout.path(layout.annotations, dataset, kind=release.kind if release else kind, split=split)


def captioned_files(settings: Config, wildcards) -> list[str]:
    """The annotation files behind text features ``wildcards.captions``."""
    return annotation_files(settings, key_of(wildcards.dataset), CAPTIONS[wildcards.captions][0])
