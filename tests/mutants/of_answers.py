"""Mutations of answers: spans and their labels, the ranking of videos."""

import torch

from mutants.kinds import found, logits, moved
from mutants.registry import ONE_STAGE, mutation
from verified.benchmark.vcmr.scoring import PAD

# Spans and labels


@mutation("starts and ends are swapped at search", trained=True)
def swapped(base):
    return logits(lambda spans: spans._replace(start=spans.end, end=spans.start))(base)


for name, field, by in (
    ("starts come out one clip early", "start", -1),
    ("starts come out one clip late", "start", 1),
    ("ends come out one clip early", "end", -1),
    ("ends come out one clip late", "end", 1),
):

    @mutation(name, trained=True)
    def off(base, field=field, by=by):
        return found(lambda spans, mask: spans._replace(**{field: moved(getattr(spans, field), mask, by)}))(base)


@mutation("the best start is the worst", trained=True)
def reversed_starts(base):
    return logits(lambda spans: spans._replace(start=torch.where(spans.start > -1e3, -spans.start, PAD)))(base)


for name, column, by in (
    ("labels start one clip early", 0, -1),
    ("labels start one clip late", 0, 1),
    ("labels end one clip early", 1, -1),
    ("labels end one clip late", 1, 1),
):

    @mutation(name)
    def labels_off(base, column=column, by=by):
        def label(start, end, seconds, clips):
            given = list(base.label(start, end, seconds, clips))
            given[column] = min(max(given[column] + by, 0), clips - 1)
            return (min(given), given[1]) if column == 0 else (given[0], max(given))

        return {"label": staticmethod(label)}


@mutation("labels take seconds for clips")
def seconds_for_clips(base):
    return {"label": staticmethod(lambda start, end, seconds, clips: base.label(start, end, 1.0, clips))}


@mutation("spans are decoded a clip longer")
def decoded_longer(base):
    return {"decoded_end": base.decoded_end + 1}


@mutation("spans are decoded a clip shorter")
def decoded_shorter(base):
    return {"decoded_end": base.decoded_end - 1}


# Ranking of videos


@mutation("the worst video is the best at search", (*ONE_STAGE, "squidnet"), trained=True)
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
