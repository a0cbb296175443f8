"""What the rules of the stage need to know: where a source is, which settings matter, which modules do the work."""

from collections.abc import Callable

from verified.config import Config
from verified.corpus.video_folder import folder_digest

RENDERER = (
    "common.files", "common.jsonl", "common.seeds", "corpus.backgrounds", "corpus.coarse_captions",
    "corpus.demo_source", "corpus.encode", "corpus.motion", "corpus.render", "corpus.shapes", "corpus.vocabulary",
    "corpus.world",
)  # fmt: skip
"""Modules that the bytes of a rendered demo depend on."""
READER = (
    "common.files", "common.jsonl", "common.video", "corpus.assemble", "corpus.folder_source", "corpus.held_out",
    "corpus.moment_checks", "corpus.moments_file", "corpus.video_folder",
)  # fmt: skip
"""Modules that the rows of a corpus depend on."""


def datasets_of(settings: Config, *kinds: str) -> str:
    """A wildcard constraint: the data sets whose source is one of `kinds`; it matches nothing if there are none."""
    names = [name for name, dataset in settings.datasets.items() if dataset.source.kind in kinds]
    return "|".join(names) or "(?!)"


def source_files(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the folder of videos and the moments file of ``wildcards.dataset``, given or rendered."""

    def files(wildcards) -> dict[str, str]:
        source = settings.datasets[wildcards.dataset].source
        if source.kind == "demo":
            folder = f"results/{wildcards.dataset}/corpus"
            return {"videos": f"{folder}/videos", "moments": f"{folder}/rendered.jsonl"}
        return {"videos": source.videos, "moments": source.moments}

    return files


def folder_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: names, sizes and times of a user's videos; the folder's own time hides a replaced file."""

    def state(wildcards) -> str | None:
        source = settings.datasets[wildcards.dataset].source
        return folder_digest(source.videos) if source.kind == "folder" else None

    return state


def split_settings(settings: Config) -> Callable[[object], dict]:
    """A params function: what the corpus stage needs of the section `spans`, and no more, lest the rest re-run it."""

    def values(wildcards) -> dict:
        spans = settings.datasets[wildcards.dataset].spans
        roles = ("train_split", "selection_split", "test_split")
        return {"held_out_share": spans.held_out_share} | {role: getattr(spans, role) for role in roles}

    return values
