"""CONQUER and SQuiDNet on ranked lists, beside a literal version of the same formulas.

    python benchmarks/reranking.py          # paper widths, 24 clips, 2 queries × 16 videos; half a minute

The literal version follows the official code: every listed video is encoded for every query, clips and tokens are
padded to the model's lengths, and the similarity reads the concatenation [clip; token; clip ∘ token] of every clip and
token. Both have the same random weights and give the same logits, which is checked first. Videos have a third of the
context to all of it. The limit is the multiplications that our side does. Its memory is in `benchmarks/memory.py`.
"""

import sys

from sides import Row, arithmetic, asked, compare, described, multiplications, side

MODELS = {"conquer": "CONQUER", "squidnet": "SQuiDNet"}
QUERIES, VIDEOS, CLIPS, HIDDEN = 2, 16, 24, 768


def main() -> None:
    options = asked(described(__doc__))
    import torch

    torch.set_num_threads(1)
    with torch.no_grad():
        for name, title in MODELS.items():
            inputs = prepare(name, *((1, 3, 8, 96) if options.tiny else (QUERIES, VIDEOS, CLIPS, HIDDEN)))
            check(title, inputs)
            pairs = len(inputs[1]) * len(inputs[3])
            limit = arithmetic(multiplications(lambda inputs=inputs: ours(*inputs)), pairs)
            sides = [side(way.__name__, lambda way=way, inputs=inputs: way(*inputs), pairs) for way in (ours, literal)]
            compare(options.turns, Row(f"{title}, from features to spans", "pairs", *sides, limit))


def check(title: str, inputs: tuple) -> None:
    """Raises SystemExit if the two versions differ by more than 1e-4 at a real clip."""
    for one, other in zip(ours(*inputs), literal(*inputs)):
        difference = (one - other).abs()[:, inputs[-1]].max().item()
        if not difference < 1e-4:
            sys.exit(f"{title}: the versions differ by {difference:.1e}")


def prepare(name: str, queries: int, videos: int, clips: int, hidden: int) -> tuple:
    """A model with random weights, and random features: of videos with a third to all of the context."""
    import torch

    from verified.benchmark.vcmr.registry import build_model

    torch.manual_seed(0)
    sizes = {"video_dim": 2048, "text_dim": 768, "context_clips": clips, "hidden": hidden, "feed_forward": 4 * hidden}
    model = build_model(name, sizes).eval()
    lengths = torch.linspace(clips / 3, clips, videos).round()
    mask = torch.arange(clips) < lengths[:, None]
    tokens = torch.arange(30) < torch.linspace(8, 20, queries)[:, None]
    query = torch.randn(queries, 30, 768) * tokens[:, :, None]
    video = torch.randn(videos, clips, 2048) * mask[:, :, None]
    return model, query, tokens, video, mask


def ours(model, query, tokens, video, mask):
    """The corpus once, then all pairs, sorted by video as search gives them."""
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
