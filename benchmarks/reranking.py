"""Pairs per processor second of CONQUER and SQuiDNet on ranked lists, beside a literal version of the same formulas.

    python benchmarks/reranking.py                     # paper widths, 24 clips, 2 queries × 40 videos, both versions
    python benchmarks/reranking.py --bounded           # ours alone at 240 clips × 100 videos: peak memory of one query

The literal version follows the official code: every listed video is encoded for every query, clips and tokens are
padded to the model's lengths, and the similarity reads the concatenation [clip; token; clip ∘ token] of every clip and
token. Both have the same random weights and give the same logits, which is checked first. Each version runs in a
process of its own; seconds are seconds of processor time, "peak" is the memory of the process beyond what it held
before the search.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

PARTS = {
    "conquer": {
        "videos": "encoder.videoEncoder",
        "queries": "encoder.queryEncoder",
        "context": "contextual_QAL_feature_learning",
        "begin": "moment_localization_head.begin_feature_modeling",
        "end": "moment_localization_head.end_feature_modeling",
    },
    "squidnet": {
        "videos": "MMAencoder.vsMMA",
        "queries": "MMAencoder.text_enc",
        "context": "JS_emb",
        "begin": "CMP.start_JSemb",
        "end": "CMP.conditional_end_JSemb",
        "video score": "CMP.video_predictor",
    },
}
"""Modules whose time is shown; what is left is the similarity, the attention and the gathering of pairs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=sorted(PARTS), default=sorted(PARTS))
    parser.add_argument("--queries", type=int, default=2)
    parser.add_argument("--videos", type=int, default=40, help="length of the ranked lists, and size of the corpus")
    parser.add_argument("--clips", type=int, default=24, help="context length; videos have a third of it to all of it")
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--bounded", action="store_true", help="ours alone, one query, 100 videos of up to 240 clips")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.bounded:
        options.queries, options.videos, options.clips = 1, 100, 240
    versions = ["ours"] if options.bounded else ["literal", "ours"]
    for name in options.models:
        if not options.bounded:
            _in_process(check, name, options)
        rates = {}
        for version in versions:
            seconds, megabytes, parts = _in_process(measure, name, version, options)
            rates[version] = options.queries * options.videos / seconds
            shares = ", ".join(f"{network_part} {100 * spent / seconds:.0f} %" for network_part, spent in parts.items())
            print(f"{name:9}{version:8}{rates[version]:8.2f} pairs/s, peak {megabytes:6.0f} MB; {shares}", flush=True)
        if len(rates) == 2:
            print(f"{name:9}ratio   {rates['ours'] / rates['literal']:8.2f}")


def _in_process(function, *arguments):
    """The result of a function in a new process, so that peaks of memory do not mix."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def prepare(name: str, options: argparse.Namespace):
    """A model with random weights at the paper's widths, and random features with a third to all of the context."""
    import torch

    from verified.retrieval.registry import model_class

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    cls = model_class(name)
    widths = {"hidden": options.hidden, "feed_forward": 4 * options.hidden}
    model = cls(cls.Config(video_dim=2048, text_dim=768, context_clips=options.clips, **widths)).eval()
    lengths = torch.linspace(options.clips / 3, options.clips, options.videos).round()
    mask = torch.arange(options.clips) < lengths[:, None]
    tokens = torch.arange(30) < torch.linspace(8, 20, options.queries)[:, None]
    query = torch.randn(options.queries, 30, 768) * tokens[:, :, None]
    video = torch.randn(options.videos, options.clips, 2048) * mask[:, :, None]
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


def check(name: str, options: argparse.Namespace) -> None:
    """Raises AssertionError if the two versions differ by more than 1e-4 at a real clip."""
    import torch

    small = argparse.Namespace(**{**vars(options), "videos": 5, "queries": 2})
    with torch.no_grad():
        inputs = prepare(name, small)
        for one, other in zip(ours(*inputs), literal(*inputs)):
            difference = (one - other).abs()[:, inputs[-1]].max().item()
            assert difference < 1e-4, f"{name}: the versions differ by {difference:.1e}"


def measure(name: str, version: str, options: argparse.Namespace) -> tuple[float, float, dict[str, float]]:
    """Processor seconds, peak memory in MB, and seconds by part of one search."""
    import torch

    inputs = prepare(name, options)
    spent: dict[str, float] = defaultdict(float)
    for network_part, path in PARTS[name].items():
        _clock(inputs[0].get_submodule(path), network_part, spent)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with torch.no_grad():
        {"ours": ours, "literal": literal}[version](*inputs)
    seconds = time.process_time() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    spent["similarity and rest"] = seconds - sum(spent.values())
    return seconds, peak, dict(spent)


def _clock(module, network_part: str, spent: dict[str, float]) -> None:
    """Add the time of every call of the module (of what it contains, if it is a mere container) to ``spent[part]``."""
    import torch

    timed = list(module.values()) if isinstance(module, torch.nn.ModuleDict) else [module]
    for inner in timed:
        inner.register_forward_pre_hook(
            lambda *_: spent.__setitem__(network_part, spent[network_part] - time.process_time())
        )
        inner.register_forward_hook(
            lambda *_: spent.__setitem__(network_part, spent[network_part] + time.process_time())
        )


if __name__ == "__main__":
    main()
