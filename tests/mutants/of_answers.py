"""Mutations of answers: spans and their labels, the ranking of videos."""

import torch

from mutants.kinds import logits
from mutants.registry import mutation
from verified.retrieval.scoring import PAD

# Spans and labels


@mutation("starts and ends are swapped at search", trained=True)
def swapped(base):
    return logits(lambda spans: spans._replace(start=spans.end, end=spans.start))(base)


@mutation("ends come out one clip late", trained=True)
def late_ends(base):
    def change(spans):
        late = torch.cat([spans.end[:, :1], spans.end[:, :-1]], dim=1)
        return spans._replace(end=torch.where(spans.end > -1e3, late, spans.end))

    return logits(change)(base)


@mutation("the best start is the worst", trained=True)
def reversed_starts(base):
    return logits(lambda spans: spans._replace(start=torch.where(spans.start > -1e3, -spans.start, PAD)))(base)


@mutation("labels start one clip late")
def late_labels(base):
    def label(start, end, seconds, clips):
        first, last = base.label(start, end, seconds, clips)
        return min(first + 1, last), last

    return {"label": staticmethod(label)}


@mutation("labels take seconds for clips")
def seconds_for_clips(base):
    return {"label": staticmethod(lambda start, end, seconds, clips: base.label(start, end, 1.0, clips))}


@mutation("spans are decoded a clip off")
def decoded_off(base):
    # One later than XML's published end, and one earlier than the others'.
    return {"decoded_end": 2 if base.__name__ == "XML" else base.decoded_end - 1}


# Ranking of videos


@mutation("the worst video is the best at search", ("xml", "reloclnet", "hero", "squidnet"), trained=True)
def reversed_ranking(base):
    if base.two_stage:
        return logits(lambda spans: spans._replace(score=-spans.score))(base)

    def video_scores(self, queries, videos):
        scores = base.video_scores(self, queries, videos)
        return scores if torch.is_grad_enabled() else -scores

    return {"video_scores": video_scores}


@mutation("all videos weigh the same")
def equal_weights(base):
    return {"video_weights": lambda self, scores: torch.ones_like(scores)}


@mutation("weights are a softmax over the queries")
def weights_over_queries(base):
    return {"video_weights": lambda self, scores: torch.softmax(scores, dim=0)}
