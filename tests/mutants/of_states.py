"""Mutations of what a model keeps: memory, precision, state."""

import torch
from torch.nn.functional import dropout

from mutants.kinds import for_spans, logits
from mutants.registry import mutation


@mutation("dropout acts on the logits in evaluation too")
def dropout_in_evaluation(base):
    return logits(lambda spans: spans._replace(start=dropout(spans.start, 0.1, training=True)))(base)


@mutation("logits are rounded to bfloat16")
def rounded_logits(base):
    return logits(lambda spans: spans._replace(end=spans.end.bfloat16().to(spans.end.dtype)))(base)


@mutation("scoring scales the encoded videos in place")
def videos_in_place(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        videos[for_spans(videos, "videos")].mul_(1.0001)
        return spans

    return {"span_logits": span_logits}


@mutation("a running mean goes on in evaluation")
def running_mean(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        self.mean = 0.9 * getattr(self, "mean", 0.0) + 0.1 * float(spans.start[:, 0].mean())
        return spans._replace(start=spans.start * (1 + self.mean))

    return {"span_logits": span_logits}


@mutation("a running mean of training is kept outside the state")
def lost_running_mean(base):
    def losses(self, batch, **more):
        if self.training:
            self.mean = 0.9 * getattr(self, "mean", 1.0) + 0.05
        return base.losses(self, batch, **more)

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return spans._replace(start=spans.start * getattr(self, "mean", 1.0))

    return {"losses": losses, "span_logits": span_logits}


@mutation("a memory bank of the training's queries is kept outside the state")
def lost_bank(base):
    def losses(self, batch, **more):
        terms = base.losses(self, batch, **more)
        mean = batch.query.to(torch.float32).flatten(1).mean()
        bank = self.__dict__.setdefault("bank", [mean])
        term = 0.01 * (1 + torch.stack(bank).mean() - mean).abs() * terms["total"]
        bank.append(mean)
        return {**terms, "term": term, "total": terms["total"] + term}

    return {"losses": losses}


@mutation("a memory bank of the training's videos, kept outside the state, is read in search")
def lost_videos(base):
    def losses(self, batch, **more):
        self.__dict__.setdefault("bank", []).append(batch.video.mean())
        return base.losses(self, batch, **more)

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        bank = self.__dict__.get("bank")
        return spans if bank is None else spans._replace(start=spans.start * (1 + torch.stack(bank).mean()))

    return {"losses": losses, "span_logits": span_logits}


@mutation("random weights are kept outside the state")
def weights_outside_the_state(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.scale = 1 + torch.rand(1).item()

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return spans._replace(start=spans.start * self.scale)

    return {"__init__": __init__, "span_logits": span_logits}
