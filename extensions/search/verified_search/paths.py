"""Input files, settings and location of an index."""

from collections.abc import Callable
from pathlib import Path

from verified.annotations.paths import annotation_files, release_of
from verified.config import Config
from verified.config.features import BLIND
from verified.config.folders import dataset_folder, dataset_of, shown_datasets
from verified.config.retrieval import model_module
from verified.config.sources import DemoSource
from verified.errors import InputError
from verified.runtime.digest import modules_digest
from verified.runtime.wildcards import key_of
from verified.weights.wanted import text_records, video_records
from verified_search.config import Search
from verified_search.settings import FrameSettings, IndexSettings

ONE_VECTOR = ("xml", "reloclnet", "hero")
"""Models whose video score is the largest cosine of one query vector with a clip."""
JOINT = "joint"


def indexed_model(settings: Config) -> str:
    """The model of the index. Raises InputError if no configured model can be indexed."""
    model = settings.section(Search).model
    possible = [name for name in settings.retrieval.models if name in ONE_VECTOR]
    if not model and possible:
        return possible[0]
    if model == JOINT and (backbone := settings.features.video_backbone) in BLIND:
        raise InputError(
            f"search.model = {JOINT}, but features.video_backbone = {backbone!r} reads no sentences",
            remedy="name packaged there, a CLIP or SigLIP model such as openai/clip-vit-base-patch32, or its folder",
        )
    if model == JOINT or model in possible:
        return model
    raise InputError(
        f"search.model = {model!r} is not a model of this configuration that can be indexed",
        remedy=f"one of {', '.join([*possible, JOINT])}; models are named in retrieval.models",
    )


def index_folder(settings: Config, dataset: str = "") -> Path:
    """The folder of the index of a data set (default: the first one). Raises InputError if it does not exist."""
    shown = shown_datasets(settings)
    if not shown or (dataset and dataset not in settings.datasets):
        raise InputError(f"no data set {dataset!r} in this configuration", remedy=f"known: {', '.join(shown)}")
    return Path(dataset_folder(settings, dataset or shown[0]), "search", indexed_model(settings))


def record_of(folder: Path) -> str:
    """The last file of a build of the index, known to Snakemake."""
    return f"{folder}.json"


def index_inputs(settings: Config) -> Callable[[object], dict]:
    """An input function: the files behind the index ``wildcards.indexed`` of ``wildcards.dataset``."""

    def files(wildcards) -> dict:
        search, retrieval = settings.section(Search), settings.retrieval
        dataset, root = dataset_of(settings, wildcards), f"results/{wildcards.dataset}"
        annotations = annotation_files(settings, "fig")(wildcards)
        has_videos, joint = dataset.source.has_videos, wildcards.indexed == JOINT
        inputs: dict = {"features": f"{root}/features/video.h5"}
        if joint and has_videos and search.captions == "coarse":
            inputs["moments"] = f"{root}/corpus/moments.jsonl"
        else:
            inputs["annotations"] = annotations
            inputs["queries"] = [path for path in annotations if path.endswith(f"/{dataset.spans.test_split}.jsonl")]
        weights = {*(video_records(settings) if has_videos or joint else ())}  # also for added videos
        if not joint:
            seed = retrieval.seeds_of(wildcards.indexed)[0]
            run = f"{root}/retrieval/{wildcards.indexed}/{search.trained_on}/seed-{seed}"
            kind = "fig" if release_of(settings, key_of(wildcards.dataset)) is None else _kind(annotations)
            inputs |= {
                "checkpoint": f"{run}/checkpoint.safetensors",
                "text": f"{root}/features/text-{kind}.h5",
            }
            weights |= {*text_records(settings)}
        inputs["weights"] = sorted(weights)
        if has_videos:
            inputs["videos"] = f"{root}/corpus/videos.jsonl"
        if isinstance(dataset.source, DemoSource):
            inputs["truth"] = f"{root}/corpus/truth.jsonl"
        return inputs

    return files


def _kind(annotations: list[str]) -> str:
    return "cog" if annotations and "/annotations/cog/" in annotations[0] else "fig"


def index_settings(settings: Config) -> Callable[[object], dict]:
    """A params function: the settings of an index besides its files."""

    def values(wildcards) -> dict:
        dataset, features, retrieval = dataset_of(settings, wildcards), settings.features, settings.retrieval
        joint = wildcards.indexed == JOINT
        frames = FrameSettings(
            backbone=features.video_backbone,
            revision=features.video_revision,
            fps=features.fps,
            precision=features.precision,
            batch=features.batch,
        )
        return IndexSettings(
            model=wildcards.indexed,
            dataset=key_of(wildcards.dataset),
            title=dataset.title,
            spans=dataset.spans,
            text_encoder=features.video_backbone if joint else features.text_encoder,
            text_revision=features.video_revision if joint else features.text_revision,
            features=frames if dataset.source.has_videos else None,
            exact_clips=settings.section(Search).exact_clips,
            thumbnails=settings.section(Search).thumbnails,
            searched_videos=retrieval.searched_videos,
            seed=settings.seed,
            threads=retrieval.threads,
        ).model_dump(mode="json")

    return values


def indexed_code(wildcards) -> str:
    """A params function: digest of the code of the indexed model, which imports do not reveal."""
    return modules_digest(*([] if wildcards.indexed == JOINT else [model_module(wildcards.indexed)]))
