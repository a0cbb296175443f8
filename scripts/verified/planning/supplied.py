"""Inputs of a configuration that no rule makes. Snakemake can name a missing one, but gives no remedy."""

from collections.abc import Iterator
from pathlib import Path

from verified.config import Config
from verified.config.evaluator import PRETRAINED
from verified.config.folders import datasets_with, evaluator_folder
from verified.errors import InputError
from verified.extension import stages
from verified.layout import Layout
from verified.planning.findings import Supplied


def list_supplied(settings: Config) -> Iterator[Supplied]:
    """All inputs of the user except published annotations: videos, moments, weights, those of extensions."""
    layout = Layout(settings)
    for name in datasets_with(settings, "has_videos"):
        source, key = settings.datasets[name].source, f"datasets.{name}.source"
        made = layout.path(layout.moments, name)
        if source.given_videos is not None:
            yield Supplied(f"{key}.videos", source.given_videos, True, made)
        if source.given_moments is not None:
            yield Supplied(f"{key}.moments", source.given_moments, False, made)
    for stage in stages():
        yield from stage.supplied(settings)
    evaluator, tuned = settings.evaluator, f"{evaluator_folder(settings)}/checkpoint.safetensors"
    if evaluator.checkpoint and evaluator.checkpoint != PRETRAINED:
        yield Supplied("evaluator.checkpoint", evaluator.checkpoint, False, tuned)
    elif evaluator.umt_file and not evaluator.umt_url and not evaluator.checkpoint:
        yield Supplied("evaluator.umt_file", evaluator.umt_file, False, tuned)


def check_supplied(settings: Config) -> None:
    """Raise InputError for the first missing input, unless the output made from it exists."""
    for key, path, is_folder, made in list_supplied(settings):
        if not Path(path).exists() and not Path(made).exists():
            kind = "folder" if is_folder else "file"
            raise InputError(f"{key}: no {kind} {path}", remedy="put it there, or name another")
