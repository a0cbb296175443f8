"""Annotations and features as tensors: the moments of a split, padded videos, padded queries; and token ids of
captions, for models that read those instead of features (HERO).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import SECOND_STREAM
from verified.corpus.splits import HELD_OUT, is_held_out
from verified.errors import InputError
from verified.features.files import describe_second, fits_duration, rate_problem
from verified.io.fig import COG_KEYS, FIG_KEYS, read_fig
from verified.io.hdf5 import Contents, FeatureFile, Room
from verified.nn import mini_lm

log = logging.getLogger("verified")

Cast = Literal["official", "float32"]
"""Number format in which features are pooled and normalised: the file's own, as in the official code, or float32."""
Padding = Literal["context", "official"]
"""Length that videos are padded to: the model's context length, or as its authors do
(`RetrievalModel.official_batch`)."""


@dataclass
class Moments:
    """Q annotated moments of a split; its corpus is the videos they are in."""

    desc_id: np.ndarray
    """[Q] int64."""
    video: np.ndarray
    """[Q] int64, positions in `videos`."""
    time: np.ndarray
    """[Q, 2] seconds, as annotated."""
    caption: list[str]
    videos: list[str]
    """Sorted ids."""
    file: Path
    spans: np.ndarray | None = None
    """[Q, A, 2] seconds: the spans of A annotators, NaN if there are fewer; None if `time` is the only span."""
    windows: bool = False
    """Whether `spans` are the windows of a query, each of which is right."""
    durations: dict[str, float] | None = None
    """Seconds of each video, where the file has them."""

    def __len__(self) -> int:
        return len(self.desc_id)

    def take(self, index: np.ndarray) -> "Moments":
        """The moments at `index` [n], in the same corpus."""
        return replace(
            self,
            desc_id=self.desc_id[index],
            video=self.video[index],
            time=self.time[index],
            caption=[self.caption[position] for position in index],
            spans=None if self.spans is None else self.spans[index],
        )

    def by_window(self) -> "Moments":
        """A moment for each window of each query, as training learns from them."""
        if self.spans is None or not self.windows:
            return self
        query, window = np.nonzero(~np.isnan(self.spans[:, :, 0]))
        return replace(self.take(query), time=self.spans[query, window], spans=None, windows=False)


def read_moments(path: str | Path, captions: str, part: str | None = None, share: float = 0.1) -> Moments:
    """The moments of one annotation file in the FIG form, with "cog" or "fig" captions.

    `part` divides a train file for selection: "held-out" is a `share` of the videos (the division of `corpus.splits`),
    "rest" the others, None all. Raises InputError for a file, or a part of it, without moments.
    """
    path = Path(path)
    key = "cog_desc" if captions == "cog" else "fig_desc"
    rows = read_fig(path, COG_KEYS if captions == "cog" else FIG_KEYS)
    if part is not None:
        rows = [row for row in rows if is_held_out(row["video"], share) == (part == HELD_OUT)]
    if not rows:
        raise InputError("holds no moment" + (f" in its {part} part" if part else ""), file=path)
    videos = sorted({row["video"] for row in rows})
    position = {video: index for index, video in enumerate(videos)}
    windows = any("windows" in row for row in rows)
    return Moments(
        desc_id=np.array([row["desc_id"] for row in rows], dtype=np.int64),
        video=np.array([position[row["video"]] for row in rows], dtype=np.int64),
        time=np.array([row["time"] for row in rows], dtype=np.float64),
        caption=[row[key] for row in rows],
        videos=videos,
        file=path,
        spans=_spans(rows, "windows" if windows else "annotator_times"),
        windows=windows,
        durations={row["video"]: row["duration"] for row in rows},
    )


def _spans(rows: list[dict], key: str) -> np.ndarray | None:
    """Spans of rows by `key`, [Q, A, 2]; the one span of a row without them."""
    if not any(row.get(key) for row in rows):
        return None
    times = [row.get(key) or [row["time"]] for row in rows]
    spans = np.full((len(rows), max(map(len, times)), 2), np.nan)
    for number, spans_of_row in enumerate(times):
        spans[number, : len(spans_of_row)] = spans_of_row
    return spans


class Padded:
    """Arrays by index as padded tensors. Those that fit into the room stay in memory, others are read again each
    time."""

    def __init__(self, keys: list[str], length: int, read: Callable[[str], np.ndarray], room: Room | None):
        self.keys, self.length, self.read, self.room = keys, length, read, room or Room()
        self.cached: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def batch(self, index: Sequence[int] | np.ndarray) -> tuple[Tensor, Tensor]:
        """Values and mask at `index`: [n, L, dim] float32, or [n, L] int64 of token ids, zeros behind the last; [n, L]
        bool."""
        arrays = [self._array(self.keys[i]) for i in index]
        number = np.float32 if arrays[0].ndim > 1 else np.int64
        values = np.zeros((len(arrays), self.length, *arrays[0].shape[1:]), number)
        mask = np.zeros(values.shape[:2], dtype=bool)
        for row, array in enumerate(arrays):
            values[row, : len(array)] = array
            mask[row, : len(array)] = True
        return torch.from_numpy(values), torch.from_numpy(mask)

    def _array(self, key: str) -> np.ndarray:
        if key in self.cached:
            return self.cached[key]
        array = self.read(key)
        if self.room.take(array.nbytes):
            self.cached[key] = array
        return array


class Videos(Padded):
    """Features of a corpus as padded tensors, in a model's form; those of `second` behind them if it reads them.

    Raises InputError naming the file and the video if features are missing, empty, of another width or not finite, too
    long for the number format that `cast` normalises them in, or at another rate than `clip_seconds`, by the file's
    attribute or by `durations` of videos.
    """

    def __init__(
        self,
        file: FeatureFile,
        videos: list[str],
        model: type[RetrievalModel],
        context: int,
        clip_seconds: float,
        room: Room | None = None,
        cast: Cast = "float32",
        durations: dict[str, float] | None = None,
        second: FeatureFile | None = None,
    ):
        super().__init__(videos, context, self._prepare, room)
        self.context, self.cast = context, cast
        self.streams = [(file, contents := file.describe(videos, "clips"))]
        self.normalise, self.pool = model.normalise_video, model.long_videos == "pool"
        _check_rate(file.path, contents, durations or {}, clip_seconds)
        if model.second_stream:
            if second is None:
                message = f"{model.__name__} reads a second stream of video features, which is not given"
                raise InputError(message, remedy=SECOND_STREAM)
            self.streams.append((second, describe_second(second, contents, file.path)))
        self.dim = sum(of.width for _, of in self.streams)
        lengths = np.array([contents.lengths[video] for video in videos], dtype=np.int64)
        self.clips = np.minimum(lengths, context)
        """[V] clips used of each video."""
        self.clip_seconds = np.full(len(videos), clip_seconds)
        """[V] seconds per clip; longer than the feature's clip only where a long video is pooled."""
        if self.pool:
            self.clip_seconds *= np.maximum(lengths / context, 1.0)
        long = int((lengths > context).sum())
        if long:
            how = "pooled" if self.pool else "cut"
            log.info(
                "%s: %d of %d videos are longer than %d clips and are %s", file.path, long, len(videos), context, how
            )

    def _prepare(self, video: str) -> np.ndarray:
        return np.concatenate([self._stream(video, file, of.width) for file, of in self.streams], axis=1)

    def _stream(self, video: str, file: FeatureFile, width: int) -> np.ndarray:
        clips = file.finite(video, width, stored=self.cast == "official")
        if len(clips) > self.context:
            clips = pool(clips, self.context) if self.pool else clips[: self.context]
        return _normalise(clips, file, video) if self.normalise else clips


def _check_rate(file: Path, contents: Contents, durations: dict[str, float], clip_seconds: float) -> None:
    problem = rate_problem(contents.attributes, clip_seconds)
    for video, count in contents.lengths.items() if problem is None else ():
        if video in durations and not fits_duration(count, durations[video], clip_seconds):
            problem = f"{video!r} has {count} clips for {durations[video]:g} s, at spans.clip_seconds {clip_seconds:g}"
            break
    if problem:
        raise InputError(problem, file=file, remedy="set spans.clip_seconds to the features' rate")


class Batches(Protocol):
    """Interface of queries and of videos for search: padded features by index."""

    def __len__(self) -> int: ...

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]: ...


class Corpus(Batches, Protocol):
    """Interface of videos for search and for labels; see `Videos`."""

    context: int
    clips: np.ndarray
    clip_seconds: np.ndarray


class Queries(Padded):
    """Captions as padded token features, or as padded token ids for models that read those."""

    def __init__(
        self,
        moments: Moments,
        model: type[RetrievalModel],
        tokens: int,
        file: FeatureFile | None = None,
        ids: Callable[[list[str]], list[list[int]]] | None = None,
        room: Room | None = None,
        cast: Cast = "float32",
    ):
        keys = [str(desc_id) for desc_id in moments.desc_id]
        if model.query_input == "ids":
            if ids is None:
                raise ValueError("a model that reads token ids needs a tokeniser")
            rows = [np.array(sequence[:tokens], np.int64) for sequence in ids(moments.caption)]
            super().__init__(keys, tokens, dict(zip(keys, rows)).__getitem__, None)
            return
        if file is None:
            raise ValueError("a model that reads features needs their file")
        contents = file.describe(keys, "tokens")
        long = sum(contents.lengths[key] > tokens for key in keys)
        if long:
            log.info("%s: %d of %d captions are cut to %d tokens", file.path, long, len(keys), tokens)

        def read(key: str) -> np.ndarray:
            features = file.finite(key, contents.width, stored=cast == "official")[:tokens]
            return _normalise(features, file, key) if model.normalise_query else features

        super().__init__(keys, tokens, read, room)


def normalise(features: np.ndarray) -> np.ndarray:
    """Rows [..., dim] divided by their norm + 1e-5, as all TVR code does; in the number format of the features."""
    return features / (np.linalg.norm(features, axis=-1, keepdims=True) + 1e-5)


def _normalise(features: np.ndarray, file: FeatureFile, key: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        scaled = normalise(features)
    if features.dtype == np.float16 and np.any(~scaled.any(axis=-1) & features.any(axis=-1)):
        raise InputError(
            f"features of {key!r} are so long that their norm is infinite in float16",
            file=file.path,
            remedy="set retrieval.feature_cast: float32",
        )
    return scaled


def pool(clips: np.ndarray, length: int) -> np.ndarray:
    """A long video in `length` clips: means over bins whose bounds are rounded (half to even), as in ReLoCLNet.

    [n, F] → [min(n, length), F]. The last bin ends one clip early, as in the official code.
    """
    count = len(clips)
    if count <= length:
        return clips
    bounds = np.minimum(np.round(np.arange(length + 1) / length * count).astype(int), count - 1)
    return np.stack([clips[a:b].mean(axis=0) if a < b else clips[a] for a, b in pairwise(bounds)])


def span_labels(model: type[RetrievalModel], moments: Moments, videos: Corpus) -> np.ndarray:
    """[Q, 2] start and end clip of each moment under the model's convention; ends behind the video are clamped."""
    labels = np.empty((len(moments), 2), dtype=np.int64)
    late = 0
    for row, (video, (start, end)) in enumerate(zip(moments.video, moments.time)):
        seconds, clips = videos.clip_seconds[video], int(videos.clips[video])
        labels[row] = model.label(max(float(start), 0.0), float(end), float(seconds), clips)
        late += end > clips * seconds
    if late:
        log.info("%s: %d of %d spans end after the last clip and are clamped to it", moments.file, late, len(moments))
    return labels


@dataclass
class Tokeniser:
    """[CLS] and the ids of a caption's word pieces, without [SEP]."""

    vocabulary: int
    cls_id: int
    ids_of: Callable[[list[str]], list[list[int]]]
    """The ids of each caption, without special tokens."""

    def __call__(self, captions: list[str]) -> list[list[int]]:
        return [[self.cls_id, *ids] for ids in self.ids_of(captions)]


def load_tokeniser(name: str) -> Tokeniser:
    """The tokeniser of the text encoder `name`: all-MiniLM-L6-v2 (packaged; BERT's vocabulary), a folder or hub name.

    Raises InputError if it cannot be loaded or has no [CLS].
    """
    if name == mini_lm.NAME:
        packaged = mini_lm.load_tokeniser()
        ids_of = partial(packaged.encode_batch, add_special_tokens=False)
        return Tokeniser(packaged.get_vocab_size(), mini_lm.CLS, lambda captions: [of.ids for of in ids_of(captions)])
    from transformers import AutoTokenizer

    try:
        tokeniser = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise InputError(f"the tokeniser of {name!r} cannot be loaded: {error}") from None
    if tokeniser.cls_token_id is None:
        raise InputError(f"the tokeniser of {name!r} has no [CLS] token", remedy="name a BERT or RoBERTa encoder")
    encode = partial(tokeniser, add_special_tokens=False)
    return Tokeniser(len(tokeniser), tokeniser.cls_token_id, lambda captions: encode(captions)["input_ids"])
