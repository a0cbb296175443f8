"""Blind mutations of what a model keeps, shares and changes: memory, caches, checkpoints, inputs, modes, sizes."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import dropout

from mutants.blind_registry import (
    ONE_STAGE,
    ONE_VECTOR,
    built,
    built_with,
    encoded,
    found,
    losing,
    mutation,
    queries_read,
    vectors,
    video_encoder,
    videos_read,
    weighed,
)
from verified.benchmark.vcmr.contract import Spans

CHANGES = "an answer changes with what was asked before"
AGAIN = "asking twice gives two answers"


@mutation("queries are compared with a bank of all earlier ones", "memory", CHANGES, shows="history")
def bank(base):
    def encode_queries(self, query, mask):
        given = base.encode_queries(self, query, mask)
        name = "vector" if "vector" in given else "tokens"
        self.__dict__.setdefault("bank", []).append(given[name].detach().flatten(0, -2).mean(dim=0))
        mean = torch.stack(self.bank).mean(dim=0)
        return vectors(given, lambda x: x + 0.1 * mean)

    return {"encode_queries": encode_queries}


@mutation("the first corpus that is encoded sets the scale of all others", "memory", CHANGES, shows="history")
def first_corpus(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video, mask)
        if "scale" not in self.__dict__:
            self.scale = 1 + video.detach().std()
        return vectors(given, lambda x: x * self.scale)

    return {"encode_videos": encode_videos}


@mutation(
    "a mean of the training's videos is no part of the state",
    "memory",
    "a loaded checkpoint answers otherwise",
    shows="schooled",
)
def training_mean(base):
    def losses(self, batch, base, **draws):
        mean = batch.video.flatten(0, -2).mean(dim=0)
        self.mean = 0.5 * mean + 0.5 * self.__dict__.get("mean", mean)
        return base.losses(self, batch, **draws)

    def encode_videos(self, video, mask):
        return base.encode_videos(self, video if self.training else video - self.__dict__.get("mean", 0.0), mask)

    return {**losing(losses)(base), "encode_videos": encode_videos}


@mutation(
    "encoded videos are cached by the batch's shape",
    "cache",
    "a second corpus gets the first one's answers",
    shows="history",
)
def cached_by_shape(base):
    def encode_videos(self, video, mask):
        if self.training:
            return base.encode_videos(self, video, mask)
        cache = self.__dict__.setdefault("cache", {})
        key = tuple(video.shape)
        if key not in cache:
            cache[key] = base.encode_videos(self, video, mask)
        return cache[key]

    return {"encode_videos": encode_videos}


@mutation(
    "encoded videos are cached by their first clip", "cache", "videos with one opening are one video", shows="openings"
)
def cached_by_first_clip(base):
    def encode_videos(self, video, mask):
        first = video[:, 0]
        same = (first[:, None] == first[None]).all(dim=2)
        source = same.int().argmax(dim=1)
        given = base.encode_videos(self, video[source], mask[source])
        return {**given, "mask": mask}

    return {"encode_videos": encode_videos}


@mutation(
    "encoded videos are cached by content, whatever the weights",
    "cache",
    "selection judges old epochs",
    shows="weights",
)
def cached_by_content(base):
    def encode_videos(self, video, mask):
        if self.training:
            return base.encode_videos(self, video, mask)
        cache = self.__dict__.setdefault("cache", {})
        key = video.numpy().tobytes() + mask.numpy().tobytes()
        if key not in cache:
            cache[key] = base.encode_videos(self, video, mask)
        return cache[key]

    return {"encode_videos": encode_videos}


@mutation(
    "encoded queries are cached by content, whatever the weights",
    "cache",
    "selection judges old epochs",
    shows="weights",
)
def queries_cached(base):
    def encode_queries(self, query, mask):
        if self.training:
            return base.encode_queries(self, query, mask)
        cache = self.__dict__.setdefault("cached_queries", {})
        key = query.numpy().tobytes() + mask.numpy().tobytes()
        if key not in cache:
            cache[key] = base.encode_queries(self, query, mask)
        return cache[key]

    return {"encode_queries": encode_queries}


@mutation(
    "logits are cached by the pairs' numbers", "cache", "the second chunk gets the first one's moments", shows="history"
)
def cached_by_pairs(base):
    def span_logits(self, queries, videos, query_index, video_index):
        cache = self.__dict__.setdefault("cached_pairs", {})
        key = (tuple(query_index.tolist()), tuple(video_index.tolist()))
        if key not in cache:
            cache[key] = base.span_logits(self, queries, videos, query_index, video_index)
        return cache[key]

    return {"span_logits": span_logits}


END = {
    "xml": "video_ed_predictor",
    "reloclnet": "merged_ed_predictor",
    "hero": "video_ed_predictor",
    "late_span": "end",
}
MODULES = {**END, "conquer": "moment_localization_head", "squidnet": "CMP"}


def module_name(base):
    """A child module that localises."""
    return MODULES[base.__module__.rpartition(".")[2]]


@mutation(
    "the head's parameters are not registered",
    "checkpoint",
    "a checkpoint lacks the head; it is never trained",
    shows="saved",
)
def unregistered(base):
    def hide(model):
        name = module_name(base)
        model.__dict__[name] = model._modules.pop(name)

    return built(hide)(base)


@mutation("a learned bias is kept in a list", "checkpoint", "a loaded checkpoint answers otherwise", shows="saved")
def listed_bias(base):
    def add(model):
        model.biases = [nn.Parameter(torch.randn(model.config.context_clips))]

    change = {"__init__": built(add)(base)["__init__"]}

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return spans._replace(start=spans.start + self.biases[0].detach())

    return {**change, "span_logits": span_logits}


@mutation(
    "a random buffer is left out of the state", "checkpoint", "a loaded checkpoint answers at random", shows="saved"
)
def unsaved_buffer(base):
    def add(model):
        model.register_buffer("projection", torch.randn(model.config.video_dim), persistent=False)

    name = video_encoder(base)

    def encoder(self, video, mask):
        return getattr(base, name)(self, video * self.projection, mask)

    return {**built(add)(base), name: encoder}


@mutation(
    "a part of the state is dropped on loading", "checkpoint", "a loaded checkpoint answers at random", shows="saved"
)
def not_loaded(base):
    def load_state_dict(self, state, *args, **options):
        name = module_name(base)
        own = {key: value for key, value in self.state_dict().items() if key.startswith(name)}
        return base.load_state_dict(self, {**state, **own}, *args, **options)

    return {"load_state_dict": load_state_dict}


@mutation("the head belongs to the class", "checkpoint", "two models in one process are one", shows="instances")
def class_head(base):
    shared = {}

    def share(model):
        name = module_name(base)
        key = tuple(parameter.shape for parameter in model._modules[name].parameters())
        fresh = model._modules[name]
        shared.setdefault(key, fresh)
        for parameter, new in zip(shared[key].parameters(), fresh.parameters()):
            parameter.data.copy_(new.data)
        model._modules[name] = shared[key]

    return built(share)(base)


@mutation("clips are scaled in place", "in place", "each search shrinks the features again", shows="inputs")
def videos_in_place(base):
    return videos_read(lambda video, mask: (video.mul_(0.9), mask))(base)


@mutation("the video's mask is changed in place", "in place", "videos get shorter with each search", shows="inputs")
def mask_in_place(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video, mask)
        mask[:, -1] = False
        return given

    return {"encode_videos": encode_videos}


@mutation("queries are changed in place", "in place", "the next epoch reads other sentences", shows="inputs")
def queries_in_place(base):
    def encode_queries(self, query, mask):
        query[:, -1] = query[:, 0]
        return base.encode_queries(self, query, mask)

    return {"encode_queries": encode_queries}


@mutation(
    "the batch's labels are changed in place", "in place", "labels creep from epoch to epoch", shows="inputs_training"
)
def span_in_place(base):
    def losses(self, batch, base, **draws):
        batch.span[:, 1] = (batch.span[:, 1] - 1).clamp(min=0)
        return base.losses(self, batch, **draws)

    return losing(losses)(base)


@mutation(
    "the batch's clips are changed in place by the loss",
    "in place",
    "features creep from epoch to epoch",
    shows="inputs_training",
)
def batch_in_place(base):
    def losses(self, batch, base, **draws):
        batch.video.add_(0.01)
        return base.losses(self, batch, **draws)

    return losing(losses)(base)


@mutation("video encodings are changed in place by the logits", "in place", AGAIN, shows="inputs_found")
def encodings_in_place(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        videos["localised" if "localised" in videos else "tokens"].mul_(0.99)
        return spans

    return {"span_logits": span_logits}


@mutation("query encodings are changed in place by the logits", "in place", AGAIN, shows="inputs_found")
def query_encodings_in_place(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        queries["localiser" if "localiser" in queries else "tokens"].add_(0.01)
        return spans

    return {"span_logits": span_logits}


@mutation(
    "the pairs' numbers are changed in place", "in place", "moments are credited to other videos", shows="inputs_found"
)
def pairs_in_place(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        video_index.zero_()
        return spans

    return {"span_logits": span_logits}


@mutation(
    "scores are changed in place by the weights", "in place", "VR lists hold other scores", shows="inputs_weights"
)
def scores_in_place(base):
    return weighed(lambda self, scores, base: base.video_weights(self, scores.mul_(0.5).mul_(2.0).add_(0.01)))(base)


@mutation("dropout stays on for queries", "mode", AGAIN, shows="unsteady")
def query_dropout(base):
    return encoded("queries", lambda x: dropout(x, 0.1, training=True))(base)


@mutation("dropout stays on for clips", "mode", AGAIN, shows="unsteady")
def video_dropout(base):
    return encoded("videos", lambda x: dropout(x, 0.1, training=True))(base)


@mutation("dropout stays on for end logits", "mode", AGAIN, shows="unsteady")
def end_dropout(base):
    return found(lambda spans, mask: spans._replace(end=torch.where(mask, dropout(spans.end, 0.1, True), spans.end)))(
        base
    )


@mutation("eval() is not heard", "mode", AGAIN, shows="unsteady", option={"dropout": 0.1})
def always_training(base):
    return {"train": lambda self, mode=True: base.train(self, True)}


@mutation("encoding videos puts the model into evaluation", "mode", "training goes on without dropout", shows="modes")
def into_evaluation(base):
    def encode_videos(self, video, mask):
        self.eval()
        return base.encode_videos(self, video, mask)

    return {"encode_videos": encode_videos}


@mutation(
    "encoding queries puts the model into training", "mode", "search runs with dropout from then on", shows="modes"
)
def into_training(base):
    def encode_queries(self, query, mask):
        given = base.encode_queries(self, query, mask)
        self.train()
        return given

    return {"encode_queries": encode_queries}


@mutation("a search freezes the parameters", "mode", "nothing is learned after the first selection", shows="modes")
def freezing_search(base):
    def encode_queries(self, query, mask):
        if not self.training:
            self.requires_grad_(False)
        return base.encode_queries(self, query, mask)

    return {"encode_queries": encode_queries}


@mutation("queries lose the mean of their batch", "mates", "an answer depends on who else asks", shows="mates")
def queries_centred(base):
    return encoded("queries", lambda x: x - 0.1 * x.mean(dim=0, keepdim=True))(base)


@mutation("clips lose the mean of their batch", "mates", "a video is found or not by its neighbours", shows="mates")
def videos_centred(base):
    return encoded("videos", lambda x: x - 0.1 * x.mean(dim=0, keepdim=True))(base)


@mutation(
    "features are standardised over the batch", "mates", "a video is found or not by its neighbours", shows="mates"
)
def features_standardised(base):
    def change(video, mask):
        real = video[mask]
        return (video - real.mean(dim=0)) / (real.std(dim=0) + 0.1), mask

    return videos_read(change)(base)


@mutation(
    "queries remember those before them in the batch", "mates", "an answer depends on who asked first", shows="mates"
)
def queries_add_up(base):
    def change(x):
        return x + 0.1 * (x.cumsum(dim=0) - x)

    return encoded("queries", change)(base)


@mutation("videos remember the one before them in the batch", "mates", "order of the corpus decides", shows="mates")
def videos_add_up(base):
    return encoded("videos", lambda x: x + 0.1 * torch.cat([x[:1] * 0, x[:-1]]))(base)


@mutation("vectors are divided by the size of the batch", "mates", "a corpus's last block is found less", shows="mates")
def by_batch_size(base):
    return encoded("videos", lambda x: x / len(x))(base)


@mutation("the batch's number of a row is added", "mates", "the same sentence gets two answers", shows="mates")
def row_number(base):
    def change(x):
        number = torch.arange(len(x)).to(x).view(-1, *[1] * (x.dim() - 1))
        return x * (1 + 0.05 * number)

    return encoded("queries", change)(base)


@mutation(
    "batches of more than four videos lose the mean of the batch", "mates", "big corpora only are wrong", shows="mates"
)
def big_batches(base):
    return encoded("videos", lambda x: x - 0.1 * x.mean(dim=0, keepdim=True) if len(x) > 4 else x)(base)


@mutation(
    "logits of a pair depend on the pair before",
    "mates",
    "a moment depends on which videos are listed",
    shows="pairs_parts",
)
def pair_before(base):
    def change(spans, mask):
        before = torch.cat([spans.start[:1], spans.start[:-1]])
        return spans._replace(start=torch.where(mask, spans.start + 0.1 * before.clamp(min=-10), spans.start))

    return found(change)(base)


@mutation(
    "logits are scaled by the largest of all pairs",
    "mates",
    "a moment depends on which videos are listed",
    shows="pairs_parts",
)
def largest_pair(base):
    def change(spans, mask):
        largest = spans.end.masked_fill(~mask, 0.0).abs().max() + 1e-6
        return spans._replace(end=torch.where(mask, spans.end / largest, spans.end))

    return found(change)(base)


@mutation(
    "re-scored videos share a softmax over all pairs",
    "mates",
    "an answer depends on who else asks",
    models=("squidnet",),
    shows="pairs_parts",
)
def rescored_together(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return Spans(spans.start, spans.end, spans.score.softmax(dim=0))

    return {"span_logits": span_logits}


def with_options(method, **options):
    """A method that reads other options than the model was given."""

    def other(self, *args, **draws):
        config, self.config = self.config, replace(self.config, **options)
        given = method(self, *args, **draws)
        self.config = config
        return given

    return other


@mutation(
    "the option hidden is ignored",
    "config",
    "a study of widths compares one width",
    models=(*ONE_STAGE, "conquer"),
    shows="option",
    option={"hidden": 24},
)
def hidden_ignored(base):
    return built_with(hidden=16)(base)


@mutation(
    "the option dropout is ignored: none",
    "config",
    "a tuned dropout does nothing",
    shows="training",
    option={"dropout": 0.3},
)
def dropout_ignored(base):
    return built_with(dropout=0.0)(base)


@mutation(
    "the option dropout is ignored: half",
    "config",
    "dropout cannot be turned off",
    shows="training",
    option={"dropout": 0.0},
)
def dropout_half(base):
    return built_with(dropout=0.5)(base)


@mutation(
    "the option span_weight is ignored",
    "config",
    "a tuned loss weight does nothing",
    shows="training",
    option={"span_weight": 0.7},
)
def span_weight_ignored(base):
    return {"losses": with_options(base.losses, span_weight=0.01)}


@mutation(
    "the option margin is ignored",
    "config",
    "a tuned margin does nothing",
    models=ONE_VECTOR,
    shows="training",
    option={"margin": 0.4},
)
def margin_ignored(base):
    return {"losses": with_options(base.losses, margin=0.1)}


@mutation(
    "the option alpha is ignored", "config", "a tuned alpha does nothing", models=ONE_VECTOR, option={"alpha": 3.0}
)
def alpha_ignored(base):
    return weighed(lambda self, scores, base: torch.exp(20.0 * scores))(base)


@mutation("the option heads is ignored", "config", "a study of heads compares one model", option={"heads": 4})
def heads_ignored(base):
    return built_with(heads=2)(base)


@mutation(
    "the option cls_id is ignored",
    "config",
    "another tokeniser's [CLS] is a random word",
    models=("hero",),
    option={"cls_id": 3},
)
def cls_ignored(base):
    return {"cross_modal": with_options(base.cross_modal, cls_id=0)}


@mutation(
    "the option reach is ignored", "config", "a tuned reach does nothing", models=("late_span",), option={"reach": 0}
)
def reach_ignored(base):
    return {"near": with_options(base.near, reach=1)}


@mutation(
    "the model's config is not the one it was given",
    "config",
    "a loaded checkpoint answers otherwise",
    shows="declared",
)
def other_config(base):
    def corrupt(model):
        model.config = replace(model.config, heads=1)

    return built(corrupt)(base)


@mutation("a pair is said to need no memory", "memory", "search divides by zero", shows="declared")
def no_bytes(base):
    return {"pair_bytes": lambda self: 0}


@mutation(
    "a pair is said to need one byte",
    "memory",
    "a big corpus does not fit into memory",
    shows="declared",
    arguable=True,
)
def one_byte(base):
    return {"pair_bytes": lambda self: 1}


@mutation("a query's mask is joined with its neighbour's", "mates", "an answer depends on who else asks", shows="mates")
def joined_masks(base):
    return queries_read(lambda query, mask: (query, mask | mask.roll(1, dims=0)))(base)


@mutation(
    "weights depend on how many videos are listed",
    "mates",
    "a longer list changes scores",
    models=ONE_STAGE,
    arguable=True,
)
def by_list_length(base):
    return weighed(lambda self, scores, base: base.video_weights(self, scores) / scores.shape[1])(base)
