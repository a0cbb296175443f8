"""VR, SVMR and VCMR lists of any model over a corpus.

The corpus is encoded once. Queries come in chunks: a one-stage model scores all videos block by block and selects the
best ones; a two-stage model gets its ranked list. Start and end logits are formed only for the selected videos and for
the ground-truth video, which serves SVMR alone; a slow model gets only those that can enter the list (decode.py).

Differences from the official code: spans are decoded with the tensors' shape (there with the configured length, which
scrambles rows when no video is that long); rows of zero probability are dropped instead of filling the list; a video is
padded to the model's context length, so that its scores do not depend on its batch mates, unless
`SearchSettings.padding` is official.
"""

import logging
import tempfile
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from verified.benchmark.lists import NO_VIDEO, Lists
from verified.benchmark.vcmr.contract import Encoded, RetrievalModel, Spans
from verified.benchmark.vcmr.data import Batches, Corpus, Moments, Padding
from verified.benchmark.vcmr.layers import to_longest
from verified.benchmark.vcmr.metrics import DEPTH, TASKS
from verified.benchmark.vcmr.ranked import Ranked
from verified.runtime.progress import Progress

log = logging.getLogger("verified")

ENCODED_AT_ONCE = 32
"""Videos or queries per forward pass of an encoder."""
SCORED_AT_ONCE = 8192
"""Clips that a block of videos may hold while scoring: one block's products stay in the processor's cache."""


@dataclass(frozen=True)
class SearchSettings:
    """Settings of ranked lists."""

    min_pred_clips: int
    """min_pred_l: smallest end − start, in clips."""
    max_pred_clips: int
    """max_pred_l: end − start stays below this."""
    searched_videos: int = 100
    """Videos in which VCMR localises (fewer in a smaller corpus)."""
    rows: int = DEPTH
    """Rows of each list of spans."""
    chunk: int = 256
    """Upper limit of queries that are searched at a time."""
    memory_mb: int = 2000
    """Room for the working memory of a chunk, and again for the encoded corpus (beyond it, a file takes the rest)."""
    device: str = "cpu"
    padding: Padding = "context"
    quiet: bool = False
    """Whether progress is omitted (the searches between epochs)."""


@torch.no_grad()
def search(
    model: RetrievalModel,
    videos: Corpus,
    queries: Batches,
    moments: Moments,
    settings: SearchSettings,
    ranked: Ranked | None = None,
    corpus: Encoded | None = None,
) -> dict[str, Lists]:
    """Lists by task of every query of `moments`: videos are positions in the corpus, times are seconds.

    `ranked` holds the external lists, for two-stage models only; `corpus` the encoded videos, if they are there.
    """
    training, model = model.training, model.eval()
    corpus = corpus or encode_corpus(model, videos, settings)
    depth = min(settings.searched_videos, len(videos))
    chunk = _chunk(depth, videos.context, settings)
    searched = []
    progress = Progress("search", len(queries), "queries", quiet=settings.quiet)
    for at in range(0, len(queries), chunk):
        index = np.arange(at, min(at + chunk, len(queries)))
        encoded = encode_queries(model, queries, index, settings.device)
        truth = torch.from_numpy(moments.video[index]).to(settings.device)
        if not model.two_stage:
            scores, candidates = video_scores(model, encoded, corpus, settings.device).topk(depth, dim=1)
        elif ranked is None:
            raise ValueError("a two-stage model searches in ranked lists, and none are given")
        else:
            candidates, scores = (tensor.to(settings.device) for tensor in ranked.rows(moments.desc_id[index], depth))
        searched.append(_search_chunk(model, encoded, corpus, videos, candidates, scores, truth, settings))
        progress.step(len(index))
    progress.finish()
    model.train(training)
    return {task: Lists.join([chunk_lists[task] for chunk_lists in searched]) for task in TASKS}


def _search_chunk(
    model: RetrievalModel,
    queries: Encoded,
    corpus: Encoded,
    videos: Corpus,
    candidates: Tensor,
    scores: Tensor,
    truth: Tensor,
    settings: SearchSettings,
) -> dict[str, Lists]:
    limits = settings.min_pred_clips, settings.max_pred_clips
    pairs = torch.cat([candidates, truth.unsqueeze(1)], dim=1)
    start, end, rescored, proposals = localise(model, queries, corpus, pairs, settings)
    if rescored is not None:
        scores, order = rescored[:, :-1].sort(dim=1, descending=True, stable=True)
        candidates = candidates.gather(1, order)
        own = order.shape[1] + torch.zeros_like(order[:, :1])
        order = torch.cat([order, own], dim=1)
        start, end = (_in_order(of, order) for of in (start, end))
        proposals = None if proposals is None else _in_order(proposals, order)
    weights = model.video_weights(scores)

    def best(listed: slice, weight: Tensor) -> tuple[Tensor, ...]:
        given = None if proposals is None else proposals[:, listed]
        return model.best_spans(start[:, listed], end[:, listed], given, weight, limits, settings.rows)

    vcmr, alone = best(slice(None, -1), weights), best(slice(-1, None), torch.ones_like(weights[:, :1]))
    seconds = torch.from_numpy(videos.clip_seconds).to(candidates.device)
    return {
        "VCMR": _lists(vcmr, candidates, seconds),
        "SVMR": _lists(alone, truth.unsqueeze(1), seconds),
        "VR": _video_lists(candidates[:, :DEPTH], weights[:, :DEPTH]),
    }


def _in_order(values: Tensor, order: Tensor) -> Tensor:
    """[Q, K, …] with the second axis in the order [Q, K] of each row."""
    return torch.take_along_dim(values, order.view(*order.shape, *[1] * (values.dim() - 2)), dim=1)


def encode_corpus(model: RetrievalModel, videos: Corpus, settings: SearchSettings) -> Encoded:
    """Encodings of all videos, on the CPU; those beyond `memory_mb` are in an unnamed temporary file."""
    corpus: Encoded = {}
    progress = Progress("encode videos", len(videos), "videos", quiet=settings.quiet)
    official = model.official_batch if settings.padding == "official" else None
    # videos of one length together, so that few are pads; official batches are those of the official order
    order = np.arange(len(videos)) if official else np.argsort(videos.clips, kind="stable")
    for at in range(0, len(videos), official or ENCODED_AT_ONCE):
        index = order[at : at + (official or ENCODED_AT_ONCE)]
        clips, mask = (tensor.to(settings.device) for tensor in videos.batch(index))
        encoded = _encode(model, clips, mask, 0 if official else model.full_reach)
        if not corpus:
            corpus = _allocate(encoded, len(videos), settings.memory_mb * 2**20)
        for name, tensor in encoded.items():
            corpus[name][index] = tensor.cpu()
        progress.step(len(index))
    progress.finish()
    return corpus


def _encode(model: RetrievalModel, clips: Tensor, mask: Tensor, pads: int) -> Encoded:
    """Encodings of videos [V, L, F]; with an `official_batch` zeros from `pads` clips behind the longest on."""
    if model.official_batch is None:
        return model.encode_videos(clips, mask)
    shorter, real = to_longest(clips, mask, pads)
    encoded = model.encode_videos(shorter, real)
    missing = (0, mask.shape[1] - real.shape[1])
    return {name: F.pad(tensor, (0, 0) * (tensor.dim() - 2) + missing) for name, tensor in encoded.items()}


def _allocate(encoded: Encoded, videos: int, room: int) -> Encoded:
    corpus = {}
    for name, tensor in sorted(encoded.items(), key=lambda item: item[1].nbytes):
        shape = (videos, *tensor.shape[1:])
        size = prod(shape) * tensor.element_size()
        if size <= room:
            corpus[name] = torch.empty(shape, dtype=tensor.dtype)
            room -= size
            continue
        log.info("the encoded corpus exceeds its room; %.0f MB of it go to a temporary file", size / 2**20)
        with tempfile.NamedTemporaryFile() as file:
            corpus[name] = torch.from_file(file.name, shared=True, size=prod(shape), dtype=tensor.dtype).view(shape)
    return corpus


def encode_queries(model: RetrievalModel, queries: Batches, index: np.ndarray, device: str) -> Encoded:
    """Encodings of the queries at `index` [Q], a row each."""
    tokens, mask = queries.batch(index)
    order = mask.sum(dim=1).argsort(stable=True)  # queries of one length together, for models that leave out pads
    parts = order.split(ENCODED_AT_ONCE)
    encoded = [model.encode_queries(tokens[part].to(device), mask[part].to(device)) for part in parts]
    return {name: torch.cat([part[name] for part in encoded])[order.argsort()] for name in encoded[0]}


def video_scores(model: RetrievalModel, queries: Encoded, corpus: Encoded, device: str) -> Tensor:
    """[Q, V] scores of a one-stage model, block by block over the corpus."""
    count = len(next(iter(corpus.values())))
    block = max(1, SCORED_AT_ONCE // model.config.context_clips)
    scores = []
    for at in range(0, count, block):
        encoded = {name: tensor[at : at + block].to(device) for name, tensor in corpus.items()}
        scores.append(model.video_scores(queries, encoded))
    return torch.cat(scores, dim=1)


def localise(
    model: RetrievalModel, queries: Encoded, corpus: Encoded, pairs: Tensor, settings: SearchSettings
) -> Spans:
    """Localise in the videos `pairs` [Q, K] of each query: `Spans` with two axes Q and K for P, and start and end as
    probabilities."""
    count, depth = pairs.shape
    order = pairs.flatten().argsort(stable=True)
    video, query = pairs.flatten()[order], order // depth
    most = max(1, settings.memory_mb * 2**20 // (2 * model.pair_bytes()))
    start = torch.empty(count * depth, model.config.context_clips, device=pairs.device)
    end, rescored = torch.empty_like(start), torch.empty(count * depth, device=pairs.device)
    proposals: Tensor | None = None
    for at in range(0, len(order), most):
        some = slice(at, at + most)
        block, position = _gather_needed(corpus, video[some])
        spans = model.span_logits(queries, block, query[some], position)
        start[order[some]] = spans.start.float().softmax(dim=1)
        end[order[some]] = spans.end.float().softmax(dim=1)
        if spans.score is not None:
            rescored[order[some]] = spans.score.float()
        if spans.proposals is not None:
            proposals = start.new_empty(len(order), *spans.proposals.shape[1:]) if proposals is None else proposals
            proposals[order[some]] = spans.proposals.float()
    shape = (count, depth, -1)
    return Spans(
        start.view(shape),
        end.view(shape),
        rescored.view(count, depth) if model.rescores else None,
        None if proposals is None else proposals.unflatten(0, (count, depth)),
    )


def _gather_needed(corpus: Encoded, video: Tensor) -> tuple[Encoded, Tensor]:
    """The encodings on the device of `video` [P] and the pairs' positions in them; on the CPU without copies."""
    if video.device.type == "cpu":
        return corpus, video
    needed, position = torch.unique_consecutive(video, return_inverse=True)
    return {name: tensor[needed.cpu()].to(video.device) for name, tensor in corpus.items()}, position


def _chunk(depth: int, clips: int, settings: SearchSettings) -> int:
    """Queries at a time: some ten tensors of [queries, videos, clips] in float32 share half of the room."""
    each = 40 * (depth + 1) * clips
    return int(min(settings.chunk, max(1, settings.memory_mb * 2**20 // (2 * each))))


def _lists(spans: tuple[Tensor, ...], candidates: Tensor, seconds: Tensor) -> Lists:
    """The rows of spans of `RetrievalModel.best_spans`."""
    slot, first, last, score = spans
    video = candidates.gather(1, slot)
    length = seconds[video]
    start, end = first * length, last * length
    decoded = score > 0
    video = torch.where(decoded, video, NO_VIDEO)
    return Lists(*(tensor.cpu().numpy() for tensor in (video, start, end, score)))


def _video_lists(candidates: Tensor, weights: Tensor) -> Lists:
    zeros = np.zeros(candidates.shape)
    return Lists(candidates.cpu().numpy(), zeros, zeros, weights.cpu().numpy())
