"""Paths of the files that one stage writes and others read, defined once for all path modules.

The rules that write them declare the same names with wildcards: a spelling that differs is a file that no rule makes.
`folder` is that of a data set (`config.folders.dataset_folder`), `shards` the number of shards.
"""

from verified.runtime.wildcards import shard_names


def moments(folder: str) -> str:
    """The moments of the whole corpus."""
    return f"{folder}/corpus/moments.jsonl"


def videos(folder: str) -> str:
    """The usable videos of the whole corpus."""
    return f"{folder}/corpus/videos.jsonl"


def truth(folder: str) -> str:
    """The truth about the events in rendered videos."""
    return f"{folder}/corpus/truth.jsonl"


def keyframes(folder: str, shards: int) -> list[str]:
    """Archives of keyframes."""
    return [f"{folder}/keyframes/{shard}.tar" for shard in shard_names(shards)]


def candidates(folder: str, shards: int) -> list[str]:
    """Candidate captions, statics before dynamics."""
    return [
        f"{folder}/captions/{kind}/{shard}.jsonl" for kind in ("statics", "dynamics") for shard in shard_names(shards)
    ]


def corrupted(folder: str, shards: int) -> list[str]:
    """Candidates that were corrupted on purpose."""
    return [f"{folder}/captions/corrupted/{shard}.jsonl" for shard in shard_names(shards)]


def perturbations(folder: str, shards: int) -> list[str]:
    """Perturbed captions."""
    return [f"{folder}/perturbations/{shard}.jsonl" for shard in shard_names(shards)]


def scores(folder: str, shards: int) -> list[str]:
    """The evaluator's scores of candidates."""
    return [f"{folder}/evaluator/scores/{shard}.jsonl" for shard in shard_names(shards)]


def video_features(folder: str) -> str:
    """Features of the clips of all videos."""
    return f"{folder}/features/video.h5"


def text_features(folder: str, captions: str) -> str:
    """Features of the tokens of one kind of captions: cog, fig or fig-lowest."""
    return f"{folder}/features/text-{captions}.h5"


def training(folder: str, model: str, captions: str, seed: int | str) -> str:
    """Folder of one training of a retrieval model."""
    return f"{folder}/retrieval/{model}/{captions}/seed-{seed}"


def trained_model(folder: str, model: str, captions: str, seed: int | str) -> str:
    """The checkpoint of one training of a retrieval model."""
    return f"{training(folder, model, captions, seed)}/checkpoint.safetensors"
