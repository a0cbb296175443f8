"""What the rule of the exports reads, and where it writes."""

from collections.abc import Callable

from verified.annotations.export import generation_facts
from verified.annotations.paths import annotation_files, annotation_splits, card_facts
from verified.config import Config, outputs
from verified.config.folders import dataset_folder, dataset_of, shown_datasets
from verified.runtime.wildcards import key_of


def export_inputs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: annotations of ``wildcards.dataset``; videos and keyframes where the form holds media."""
    annotations = annotation_files(settings, "fig")

    def inputs(wildcards) -> dict[str, list[str]]:
        files = {"annotations": annotations(wildcards)}
        if settings.export.clean:
            files["findings"] = [f"results/{wildcards.dataset}/audit/findings.jsonl"]
        if has_media(settings, wildcards):
            folder = f"results/{wildcards.dataset}"
            files["videos"] = [outputs.videos(folder)]
            files["keyframes"] = outputs.keyframes(folder, settings.shards)
        return files

    return inputs


def has_media(settings: Config, wildcards) -> bool:
    """Whether the folder of ``wildcards.form`` gets media: asked for, possible, and a place for them."""
    here = dataset_of(settings, wildcards).source.annotated_here
    return settings.export.media and here and wildcards.form == "webdataset"


def export_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: what every card states, the splits, and how the form is cut into files."""
    card, generation = card_facts(settings), generation_facts(settings)

    def facts(wildcards) -> dict:
        here = dataset_of(settings, wildcards).source.annotated_here
        about = {
            **card(wildcards),
            "version": settings.export.version,
            "creators": list(settings.export.creators),
            "url": settings.export.url,
            "statements": settings.export.statements.model_dump(exclude_none=True),
            "source": dataset_of(settings, wildcards).source.origin.format(name=key_of(wildcards.dataset)),
            "models": card(wildcards)["models"] if here else {},
            "prompts": {"name": generation["prompts"], "sha256": generation["prompts_sha256"]} if here else None,
        }
        cutting = {"shard_captions": settings.export.shard_captions, "clip_side": settings.export.clip_side}
        return {
            "about": about,
            "splits": annotation_splits(settings, key_of(wildcards.dataset)),
            **(cutting if wildcards.form == "webdataset" else {}),
            "media": has_media(settings, wildcards),
            "reviewer_names": settings.export.reviewer_names,
        }

    return facts


def export_folders(settings: Config, forms: tuple[str, ...] = ()) -> list[str]:
    """The folders of all exports of a configuration, or of some forms."""
    return [
        f"{dataset_folder(settings, name)}/export/{form}"
        for name in shown_datasets(settings)
        for form in forms or settings.export.forms
    ]
