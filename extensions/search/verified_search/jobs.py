"""Input files, settings and location of an index."""

from pathlib import Path

from verified.annotations.splits import annotation_files, finest_captions
from verified.benchmark.vcmr.registry import reads_ids
from verified.config import Config
from verified.config.features import SMALL_RESNET
from verified.config.folders import dataset_folder, dataset_of, shown_datasets
from verified.config.params import deciding
from verified.config.retrieval import model_module
from verified.errors import InputError
from verified.layout import Layout
from verified.runtime.digest import modules_digest
from verified.runtime.wildcards import key_of
from verified.weights.wanted import text_records, video_records
from verified_search.config import JOINT, Search, encoder_keys

ONE_VECTOR = ("xml", "reloclnet", "hero")
"""Models whose video score is the largest cosine of one query vector with a clip."""


def indexed_model(settings: Config) -> str:
    """The model of the index. Raises InputError if no configured model can be indexed."""
    model = settings.section(Search).model
    possible = [name for name in settings.retrieval.names if name in ONE_VECTOR]
    if not model and possible:
        return possible[0]
    if model == JOINT and settings.features.video_backbone == SMALL_RESNET:
        raise InputError(
            f"search.model = {JOINT}, but features.video_backbone = {SMALL_RESNET!r} reads no sentences",
            remedy="name packaged there, a CLIP or SigLIP model such as openai/clip-vit-base-patch32, or its folder",
        )
    if model == JOINT or model in possible:
        return model
    raise InputError(
        f"search.model = {model!r} is not a model of this configuration that can be indexed",
        remedy=f"one of {', '.join([*possible, JOINT])}; models are named in retrieval.models",
    )


def check_sentences(settings: Config, dataset: str, indexed: str) -> None:
    """Raise InputError if no encoder is known whose sentences fit the features of an index.

    Features that were given fit if their file names the encoder of the configuration; a model of token ids needs none.
    """
    source = settings.datasets[dataset].source
    if source.has_videos:
        return
    if source.given_features is None:
        raise InputError(
            f"data set {dataset!r} has no videos and no features, so it has no index",
            remedy="give features, as features_dir of its source",
        )
    if indexed != JOINT and reads_ids(indexed):
        return
    from verified.io.hdf5 import FeatureFile

    name = encoder_keys(indexed)[0]
    encoder = getattr(settings.features, name)
    stem = "video" if indexed == JOINT else f"text-{finest_captions(settings, dataset)}"
    file = Path(source.given_features, f"{stem}.h5")
    writer = FeatureFile(file).attributes.get("backbone")
    if writer != encoder:
        raise InputError(
            f"{f'made by {writer!r}' if writer else 'names no encoder'}, but a search reads sentences by"
            f" features.{name} = {encoder!r}",
            file=file,
            remedy=f"name the encoder that made the file in features.{name} and in the file's attribute backbone;"
            " without it there is no search",
        )


def index_folder(settings: Config, dataset: str = "") -> Path:
    """The folder of the index of a data set (default: the first one).

    Raises InputError if it does not exist, or can have no index.
    """
    shown = shown_datasets(settings)
    if not shown or (dataset and dataset not in settings.datasets):
        raise InputError(f"no data set {dataset!r} in this configuration", remedy=f"known: {', '.join(shown)}")
    key, indexed = dataset or shown[0], indexed_model(settings)
    check_sentences(settings, key, indexed)
    return Path(dataset_folder(settings, key), "search", indexed)


def record_of(folder: Path) -> str:
    """The last file of a build of the index, known to Snakemake."""
    return f"{folder}.json"


def index_inputs(settings: Config, wildcards) -> dict:
    """The files behind the index ``wildcards.indexed`` of ``wildcards.dataset``."""
    search, retrieval, layout = settings.section(Search), settings.retrieval, Layout(settings)
    dataset, indexed, key = dataset_of(settings, wildcards), wildcards.indexed, key_of(wildcards.dataset)
    check_sentences(settings, key, indexed)
    annotations = annotation_files(settings, key)
    has_videos, joint = dataset.source.has_videos, indexed == JOINT
    inputs: dict = {"features": layout.path(layout.video_features, key)}
    if joint and has_videos and search.captions == "coarse":
        inputs["moments"] = layout.path(layout.moments, key)
    else:
        inputs["annotations"] = annotations
        inputs["queries"] = [path for path in annotations if path.endswith(f"/{dataset.spans.test_split}.jsonl")]
    weights = {*(video_records(settings) if joint else ())}
    if not joint:
        seed, finest = retrieval.seeds_of(indexed)[0], finest_captions(settings, key)
        trained_on = finest if finest == "cog" else search.trained_on
        run = layout.path(layout.training, key, model=indexed, trained_on=trained_on, seed=seed)
        inputs |= {
            "checkpoint": f"{run}/checkpoint.safetensors",
            "text": layout.path(layout.text_features, key, captions=finest),
        }
        weights |= {*text_records(settings)}
    inputs["weights"] = sorted(weights)
    if has_videos:
        inputs["videos"] = layout.path(layout.videos, key)
    return inputs


def index_settings(settings: Config, wildcards) -> dict:
    """The settings of an index, without its files."""
    dataset = dataset_of(settings, wildcards)
    return {
        "model": wildcards.indexed,
        "dataset": key_of(wildcards.dataset),
        "title": dataset.title,
        "spans": deciding(dataset.spans),
        "search": deciding(settings.section(Search), ("thumbnails",)),
        "retrieval": deciding(settings.retrieval, ("searched_videos", "threads")),
        "features": deciding(settings.features, encoder_keys(wildcards.indexed)),
        "seed": settings.seed,
    }


def indexed_code(wildcards) -> str:
    """A params function: digest of the code of the indexed model, which imports do not reveal."""
    return modules_digest(*([] if wildcards.indexed == JOINT else [model_module(wildcards.indexed)]))
