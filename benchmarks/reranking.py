"""CONQUER and SQuiDNet on ranked lists of Charades-FIG's size, beside a literal version of the same formulas.

    python benchmarks/reranking.py          # paper widths, two queries of 100 videos; some three minutes

Videos are as long as Charades-FIG's (quantiles of its test split), queries have 12 and 25 tokens. The literal version
follows the official code: every listed video is encoded for every query, clips and tokens are padded to the model's
lengths, and the similarity reads the concatenation [clip; token; clip ∘ token] of every clip and token. Both have the
same random weights and give the same logits, which is checked first. Our side encodes as many videos in a turn as fall
to so many queries when 3,720 of them share a corpus of 1,334.

Which pairs can be left out depends on a training. Each model is therefore taken twice: untrained, and with its last
maps and the list's weights scaled until starts and ends stand out and as many of the listed videos are left out as with
models trained on the demo, over lists of 100 of its 160 videos (`AS_TRAINED`); the share that is left out goes to
standard error. The limit is the multiplications that our side does. Its memory is in `benchmarks/memory.py`.
"""

import sys
from functools import partial
from typing import NamedTuple

from sides import Row, Side, arithmetic, asked, compare, described, multiplications, side

CORPUS = 3720, 1334
"""Queries and videos of Charades-FIG's test split."""
LENGTHS = ((0, 8), (5, 16), (10, 19), (25, 28), (50, 31), (75, 33), (90, 37), (95, 40), (100, 48))
"""Clips of its videos: percentile and value, linear between them."""
TOKENS = 12, 25


class Trained(NamedTuple):
    """What the models of the demo look like from outside, over the first 100 of its 160 videos."""

    title: str
    probability: float
    """Largest probability of a start in a video, on average."""
    left_out: float
    """Share of the listed videos that are left out."""


AS_TRAINED = {"conquer": Trained("CONQUER", 0.70, 0.41), "squidnet": Trained("SQuiDNet", 0.66, 0.50)}
WEIGHTS = ((0, 0.0), (1, -0.55), (2, -0.92), (5, -1.64), (10, -2.44), (20, -3.51), (40, -4.9), (60, -6.0), (99, -8.0))
"""XML's lists of the demo: rank → logarithm of the weight below the first one's, linear between them."""
SPANS = 2, 12, 100
"""As `best_spans` takes them, for Charades."""


def main() -> None:
    options = asked(described(__doc__))
    import torch

    torch.set_num_threads(1)
    with torch.no_grad():
        for name, trained in AS_TRAINED.items():
            inputs = prepare(name, *((2, 6, 8, 96) if options.tiny else (2, 100, 48, 768)))
            check(trained.title, inputs)
            untrained = Lists(*inputs, scores=torch.zeros(len(inputs[3])))
            beside = side("literal", partial(literal, *inputs), len(inputs[1]) * len(inputs[3]))
            compare(
                options.turns,
                row(f"{trained.title}, untrained", untrained, beside),
                row(f"{trained.title}, as trained", as_trained(untrained, trained), beside),
            )


def check(title: str, inputs: tuple) -> None:
    """Raises SystemExit if the two versions differ by more than 1e-4 at a real clip."""
    model, query, tokens, video, mask = inputs
    few = model, query, tokens, video[::12], mask[::12]
    for one, other in zip(ours(*few), literal(*few), strict=True):
        difference = (one - other).abs()[:, few[-1]].max().item()
        if not difference < 1e-4:
            sys.exit(f"{title}: the versions differ by {difference:.1e}")


def prepare(name: str, queries: int, videos: int, clips: int, hidden: int) -> tuple:
    """A model with random weights, and random features of videos and queries as long as Charades-FIG's."""
    import numpy as np
    import torch

    from verified.benchmark.vcmr.registry import build_model
    from verified.nn.linear import through_onednn

    torch.manual_seed(0)
    sizes = {"video_dim": 2048, "text_dim": 768, "context_clips": clips, "hidden": hidden, "feed_forward": 4 * hidden}
    model = through_onednn(build_model(name, sizes)).eval()
    quantiles = np.interp(np.linspace(0, 100, videos), *zip(*LENGTHS, strict=True)) * clips / 48
    lengths = torch.from_numpy(quantiles.round())[torch.randperm(videos)]
    mask = torch.arange(clips) < lengths[:, None]
    tokens = torch.arange(30) < torch.tensor(TOKENS[:queries])[:, None]
    query = torch.randn(queries, 30, 768) * tokens[:, :, None]
    video = torch.randn(videos, clips, 2048) * mask[:, :, None]
    return model, query, tokens, video, mask


class Lists(NamedTuple):
    """A model, features of queries and videos, and what the list says of each video."""

    model: object
    query: object
    tokens: object
    video: object
    mask: object
    scores: object
    """[V] logarithms of external scores."""


def as_trained(lists: Lists, trained: Trained) -> Lists:
    """The same with weights that fall, and probabilities that stand out, as after a training."""
    import copy

    import numpy as np
    import torch

    from verified.benchmark.vcmr.decode import best_spans
    from verified.benchmark.vcmr.needed import localise_needed

    model = copy.deepcopy(lists.model)
    count = len(lists.video)
    every = torch.arange(count)
    queries, videos = model.encode_queries(lists.query, lists.tokens), model.encode_videos(lists.video, lists.mask)
    query = {name: tensor[:1] for name, tensor in queries.items()}
    scorers = [module for name, module in model.named_modules() if name.endswith(("clip_score_predictor", "predictor"))]
    last = [scorer[-1].weight for scorer in scorers if scorer[-1].weight.dim() == 3]
    few = every[:: max(1, count // 8)]
    for _ in range(12):
        if model.span_logits(query, videos, few * 0, few).start.softmax(dim=1).amax(dim=1).mean() > trained.probability:
            break
        for weight in last:
            weight *= 1.5
    found = localise_needed(model, query, videos, every, torch.ones(count), 0, SPANS)
    falling = torch.from_numpy(np.interp(np.linspace(0, 99, count), *zip(*WEIGHTS, strict=True))).float()
    own = found.weights.log() if model.scores_first else falling
    steep = next(
        steep
        for steep in np.geomspace(0.1, 1e6, 200)
        if _left_out(best_spans, found, (own * steep).softmax(dim=0)) >= trained.left_out or steep > 9e5
    )
    print(f"  {trained.title}: weights {steep:.3g} times as steep", file=sys.stderr, flush=True)
    if model.scores_first:
        model.CMP["video_predictor"][-1].weight *= steep
    return lists._replace(model=model, scores=falling * steep)


def _left_out(best_spans, found, weights) -> float:
    """Share of videos that weigh less than the last of a list's rows."""
    rows = best_spans(found.start[None, :-1], found.end[None, :-1], weights[None], *SPANS)[3]
    return float((weights < rows[0, -1]).float().mean())


def row(work: str, lists: Lists, beside: Side) -> Row:
    """A row of the table; how many pairs were left out goes to standard error."""
    pairs = len(lists.query) * len(lists.video)
    print(f"  {work}: {pairs - sum(looked_into(lists))} of {pairs} pairs left out", file=sys.stderr, flush=True)
    limit = arithmetic(multiplications(partial(looked_into, lists)), pairs)
    return Row(work, "pairs", side("ours", partial(looked_into, lists), pairs), beside, limit)


def looked_into(lists: Lists) -> list[int]:
    """Our side: lists of all queries; how many videos of each were looked into."""
    import torch

    from verified.benchmark.vcmr.needed import localise_needed

    model, _, _, video, mask, scores = lists
    queries, videos = model.encode_queries(lists.query, lists.tokens), encoded(model, video, mask)
    new = max(1, round(len(lists.query) * CORPUS[1] / CORPUS[0]))
    model.encode_videos(video[:new], mask[:new])
    counts = []
    for row in range(len(lists.query)):
        query = {name: tensor[row : row + 1] for name, tensor in queries.items()}
        found = localise_needed(model, query, videos, torch.arange(len(video)), scores.exp(), 0, SPANS)
        counts.append(len(video) - found.left_out)
    return counts


_ENCODED: dict[int, dict] = {}


def encoded(model, video, mask) -> dict:
    """The corpus as it lies in memory when queries come."""
    if id(model) not in _ENCODED:
        _ENCODED[id(model)] = model.encode_videos(video, mask)
    return _ENCODED[id(model)]


def ours(model, query, tokens, video, mask):
    """Start and end logits of all pairs, sorted by video as search gives them."""
    import torch

    queries = model.encode_queries(query, tokens)
    videos = model.encode_videos(video, mask)
    pairs = torch.arange(len(query)).repeat(len(video)), torch.arange(len(video)).repeat_interleave(len(query))
    spans = model.span_logits(queries, videos, *pairs)
    return tuple(logits.view(len(video), len(query), -1).transpose(0, 1) for logits in spans[:2])


def literal(model, query, tokens, video, mask):
    """Query by query, with all listed videos encoded anew and the concatenation of every clip and token."""
    import torch

    pairs = []
    for row in range(len(query)):
        videos = model.encode_videos(video, mask)["tokens"]
        states = model.encode_queries(query[row : row + 1], tokens[row : row + 1])["tokens"].expand(len(video), -1, -1)
        seen = tokens[row].expand(len(video), -1)
        pairs.append(LITERAL[type(model).__name__](model, videos, mask, states, seen))
    return tuple(torch.stack(logits) for logits in zip(*pairs))


def _attended(similarity, video, mask, query, seen):
    import torch

    similarity = similarity.masked_fill(~(mask[:, :, None] & seen[:, None, :]), -1e10)
    to_query = torch.softmax(similarity, dim=2) @ query
    to_video = torch.softmax(similarity.amax(dim=2), dim=1)[:, None] @ video
    return to_query, to_video.expand_as(video)


def _concatenated(video, query):
    import torch

    shape = (*video.shape[:2], query.shape[1], video.shape[2])
    v, q = video[:, :, None].expand(shape), query[:, None].expand(shape)
    return torch.cat([v, q, v * q], dim=3)


def _conquer(model, video, mask, query, seen):
    import torch

    layer = model.query_aware_feature_learning_layer["similarity_weight"]
    to_query, to_video = _attended(layer(_concatenated(video, query)).squeeze(3), video, mask, query, seen)
    qal = torch.cat([video, to_query, video * to_query, video * to_video], dim=2)
    context = model.contextual_QAL_feature_learning(qal, mask)
    head = model.moment_localization_head
    begin = head["begin_feature_modeling"](torch.cat([qal, context], dim=2), mask)
    end = head["end_feature_modeling"](torch.cat([context, begin], dim=2), mask)
    return tuple(
        head[f"{side}_score_modeling"]["clip_score_predictor"](features.transpose(1, 2)).squeeze(1)
        for side, features in (("begin", begin), ("end", end))
    )


def _squidnet(model, video, mask, query, seen):
    import torch

    similarity = model.VQMMA["sim_weight"](_concatenated(video, query)).squeeze(3)
    to_query, to_video = _attended(similarity, video, mask, query, seen)
    features = torch.cat([video, to_query, video * to_video], dim=2)
    context = model.JS_emb(features, mask)
    joint = torch.cat([features, context], dim=2)
    model.CMP["video_predictor"](joint.amax(dim=1))
    start = model.CMP["start_JSemb"](joint, mask)
    end = model.CMP["conditional_end_JSemb"](torch.cat([context, start], dim=2), mask)
    return tuple(
        model.CMP[f"{side}_moment_prediction"]["moment_predictor"](states_of_side.transpose(1, 2)).squeeze(1)
        for side, states_of_side in (("start", start), ("end", end))
    )


LITERAL = {"Conquer": _conquer, "Squidnet": _squidnet}


if __name__ == "__main__":
    sys.exit(main())
