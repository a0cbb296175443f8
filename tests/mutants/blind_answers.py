"""Blind mutations of the answers: when, where, how good, and what they listen to."""

import torch

from mutants.blind_registry import (
    ONE_STAGE,
    ONE_VECTOR,
    found,
    lengths,
    localised,
    moved,
    mutation,
    places,
    scored,
    turned,
    vectors,
    videos_read,
    weighed,
)
from verified.benchmark.vcmr.contract import Spans

EARLY = "begins or ends one clip too early: tIoU of short moments falls below 0.7"
LATE = "begins or ends one clip too late: tIoU of short moments falls below 0.7"


def add_moves(field: str, by: int) -> None:
    """A mutation that moves one field of the spans, or both."""
    fields = ("start", "end") if field == "span" else (field,)
    when, suffers = ("early", EARLY) if by < 0 else ("late", LATE)

    def change(spans, mask):
        return spans._replace(**{name: moved(getattr(spans, name), mask, by) for name in fields})

    mutation(f"search answers the {field} one clip too {when}", "time", suffers)(found(change))


for field in ("start", "end", "span"):
    for by in (-1, 1):
        add_moves(field, by)


@mutation("search takes starts for ends", "time", "spans are empty or reach from end to start of others")
def swapped(base):
    return found(lambda spans, mask: spans._replace(start=spans.end, end=spans.start))(base)


@mutation("search answers in reversed time", "time", "what happens first is found last")
def reversed_answers(base):
    return found(lambda spans, mask: spans._replace(start=turned(spans.start, mask), end=turned(spans.end, mask)))(base)


@mutation("videos are read backwards", "time", "training learns the mirror image of each moment", arguable=True)
def backwards(base):
    return videos_read(lambda video, mask: (turned(video, mask), mask))(base)


@mutation("videos are stretched to the whole context before they are read", "time", "times count shares, not clips")
def stretched(base):
    def change(video, mask):
        source = (places(mask) * lengths(mask)) // mask.shape[1]
        return video.gather(1, source.unsqueeze(2).expand_as(video)), torch.ones_like(mask)

    return videos_read(change)(base)


@mutation("the end's head is the start's", "time", "ends never differ from starts", models=ONE_VECTOR)
def one_head(base):
    return {"kernels": (base.kernels[0], base.kernels[0])}


@mutation("start logits have the wrong sign in search", "sign", "the least likely start wins")
def negative_start(base):
    return found(lambda spans, mask: spans._replace(start=torch.where(mask, -spans.start, spans.start)))(base)


@mutation("end logits have the wrong sign in search", "sign", "the least likely end wins")
def negative_end(base):
    return found(lambda spans, mask: spans._replace(end=torch.where(mask, -spans.end, spans.end)))(base)


@mutation("video scores have the wrong sign in search", "sign", "the worst video comes first", models=ONE_STAGE)
def worst_first(base):
    return scored_in_search(lambda scores: -scores)(base)


@mutation("the list's weights have the wrong sign", "sign", "moments of the worst listed video come first")
def weights_fall(base):
    return weighed(lambda self, scores, base: base.video_weights(self, 1 - scores))(base)


@mutation("weights grow with the score's square", "monotone", "opposite videos rank beside the best")
def squared(base):
    return weighed(lambda self, scores, base: base.video_weights(self, scores.square()))(base)


@mutation("weights ignore the score", "monotone", "a wrong video's sharp moment beats the right video", arguable=True)
def flat_weights(base):
    return weighed(lambda self, scores, base: torch.ones_like(scores))(base)


@mutation("weights count places in the list, later ones more", "monotone", "the last listed video wins")
def later_weighs_more(base):
    return weighed(lambda self, scores, base: torch.arange(1.0, scores.shape[1] + 1).to(scores).expand_as(scores))(base)


@mutation(
    "weights count places in the list, earlier ones more",
    "monotone",
    "a near tie and a clear win are worth the same",
    arguable=True,
)
def earlier_weighs_more(base):
    return weighed(
        lambda self, scores, base: (1 / torch.arange(1.0, scores.shape[1] + 1)).to(scores).expand_as(scores)
    )(base)


@mutation("weights are divided by those of the other queries", "leak", "an answer's score depends on who else asked")
def weights_of_all(base):
    return weighed(
        lambda self, scores, base: (lambda w: w / w.sum(dim=0, keepdim=True))(base.video_weights(self, scores))
    )(base)


@mutation("weights mix the listed videos: each gets its neighbour's", "index", "moments come from the wrong video")
def neighbour_weights(base):
    return weighed(lambda self, scores, base: base.video_weights(self, scores).roll(1, dims=1))(base)


def scored_in_search(change):
    """`change` of the video scores outside training."""
    return lambda base: {
        "video_scores": lambda self, queries, videos: (lambda s: s if self.training else change(s))(
            base.video_scores(self, queries, videos)
        )
    }


@mutation(
    "scores are those of the previous video", "index", "each query is given its video's neighbour", models=ONE_STAGE
)
def scores_of_previous(base):
    return scored_in_search(lambda scores: scores.roll(1, dims=1))(base)


@mutation("scores are those of the next video", "index", "each query is given its video's neighbour", models=ONE_STAGE)
def scores_of_next(base):
    return scored_in_search(lambda scores: scores.roll(-1, dims=1))(base)


@mutation("scores are those of the next query", "index", "each query gets another one's list", models=ONE_STAGE)
def scores_of_next_query(base):
    return scored_in_search(lambda scores: scores.roll(-1, dims=0))(base)


@mutation("earlier videos of a block are favoured", "order", "ranks depend on the ids' order", models=ONE_STAGE)
def earlier_favoured(base):
    return scored(lambda scores: scores - 1e-3 * torch.arange(scores.shape[1]).to(scores))(base)


@mutation("later videos of a block are favoured", "order", "ranks depend on the ids' order", models=ONE_STAGE)
def later_favoured(base):
    return scored(lambda scores: scores + 1e-3 * torch.arange(scores.shape[1]).to(scores))(base)


@mutation("logits depend on the video's place in the corpus", "order", "adding a video changes answers in others")
def place_in_corpus(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        slope = torch.linspace(0, 1, spans.start.shape[1]).to(spans.start)
        start = spans.start + 0.1 * video_index[:, None] * slope
        return spans._replace(start=start.where(videos["mask"][video_index], spans.start))

    return {"span_logits": span_logits}


@mutation("logits depend on the query's place in the chunk", "order", "the same sentence gets other moments elsewhere")
def place_in_chunk(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        slope = torch.linspace(0, 1, spans.end.shape[1]).to(spans.end)
        end = spans.end - 0.1 * query_index[:, None] * slope
        return spans._replace(end=end.where(videos["mask"][video_index], spans.end))

    return {"span_logits": span_logits}


@mutation("moments are found by the first query of the chunk", "index", "all queries of a chunk get one answer")
def first_query(base):
    return {
        "span_logits": lambda self, queries, videos, query, video: base.span_logits(
            self, queries, videos, torch.zeros_like(query), video
        )
    }


@mutation("moments are looked for in the next video", "index", "right video, moment of another one")
def next_video(base):
    return {
        "span_logits": lambda self, queries, videos, query, video: base.span_logits(
            self, queries, videos, query, (video + 1) % len(videos["mask"])
        )
    }


@mutation("pairs come back in the order of video length", "index", "moments are exchanged between videos")
def unsorted(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        order = videos["mask"].sum(dim=1)[video_index].argsort(stable=True)
        return Spans(*(None if field is None else field[order] for field in spans))

    return {"span_logits": span_logits}


@mutation("every start is at the first clip", "constant", "moments always begin with their video")
def always_first(base):
    return found(lambda spans, mask: spans._replace(start=spans.start.where(places(mask) > 0, spans.start + 50)))(base)


@mutation("every end is at the last clip", "constant", "moments always end with their video")
def always_last(base):
    return found(
        lambda spans, mask: spans._replace(end=spans.end.where(places(mask) != lengths(mask) - 1, spans.end + 50))
    )(base)


@mutation("logits are constant over the clips", "constant", "any span is as good as any other")
def flat_logits(base):
    def change(spans, mask):
        flat = Spans(*(field.masked_fill(mask, 0.0) for field in spans[:2]), spans.score)
        return flat._replace(start=flat.start + 0 * spans.start)

    return localised(change)(base)


@mutation("all videos get the same score", "constant", "the order of the ids decides", models=ONE_STAGE)
def flat_scores(base):
    return scored(lambda scores: scores * 0 + scores.mean(dim=1, keepdim=True) * 0 + 0.5)(base)


@mutation(
    "the re-scored videos all get the same score", "constant", "the list comes back in its order", models=("squidnet",)
)
def flat_rescores(base):
    return localised(lambda spans, mask: spans._replace(score=spans.score * 0))(base)


@mutation("the query is not read", "ignores", "every sentence finds the same")
def deaf(base):
    return {
        "encode_queries": lambda self, query, mask: base.encode_queries(
            self, torch.zeros_like(query), torch.ones_like(mask)
        )
    }


@mutation("moments do not depend on the query", "ignores", "all sentences about a video get one moment")
def deaf_moments(base):
    def span_logits(self, queries, videos, query_index, video_index):
        mean = {name: t if t.dtype == torch.bool else torch.ones_like(t) for name, t in queries.items()}
        mean["mask"] = torch.ones_like(queries["mask"]) if "mask" in queries else None
        return base.span_logits(self, mean, videos, query_index, video_index)

    return {"span_logits": span_logits}


@mutation("video scores do not depend on the query", "ignores", "one popular video heads all lists", models=ONE_STAGE)
def deaf_scores(base):
    return scored_in_search(lambda scores: scores.mean(dim=0, keepdim=True).expand_as(scores).contiguous())(base)


@mutation("the video is not read", "ignores", "the place in time alone decides")
def blind(base):
    return videos_read(lambda video, mask: (torch.zeros_like(video), mask))(base)


@mutation("moments do not depend on the clips", "ignores", "a prior over time stands for the answer")
def blind_moments(base):
    def span_logits(self, queries, videos, query_index, video_index):
        still = {name: t if name == "mask" else t[:1].mean(1, keepdim=True).expand_as(t) for name, t in videos.items()}
        return base.span_logits(self, queries, still, query_index, video_index)

    return {"span_logits": span_logits}


@mutation("the order of the clips is lost before they are read", "order", "times belong to other clips")
def clips_sorted(base):
    def change(video, mask):
        key = video[:, :, 0].masked_fill(~mask, float("inf"))
        return video.gather(1, key.argsort(dim=1, stable=True).unsqueeze(2).expand_as(video)), mask

    return videos_read(change)(base)


@mutation("the order of the words is lost", "order", "dog bites man, man bites dog", arguable=True)
def words_sorted(base):
    def encode_queries(self, query, mask):
        values = query if query.dim() == 2 else query[:, :, 0]
        order = values.double().masked_fill(~mask, float("inf")).argsort(dim=1, stable=True)
        index = order if query.dim() == 2 else order.unsqueeze(2).expand_as(query)
        return base.encode_queries(self, query.gather(1, index), mask)

    return {"encode_queries": encode_queries}


@mutation("scores use the least similar clip", "sign", "videos that show the wish briefly are lost", models=ONE_VECTOR)
def least_similar(base):
    def video_scores(self, queries, videos):
        products = torch.einsum("qd,vld->qvl", queries["unit"].float(), videos["unit"].float())
        return products.masked_fill(~videos["mask"], 2.0).amin(dim=2)

    return {"video_scores": video_scores}


@mutation("scores use the size of the cosine without its sign", "monotone", "opposites are matches", models=ONE_VECTOR)
def absolute(base):
    def video_scores(self, queries, videos):
        products = torch.einsum("qd,vld->qvl", queries["unit"].float(), videos["unit"].float())
        return products.abs().masked_fill(~videos["mask"], -1.0).amax(dim=2)

    return {"video_scores": video_scores}


@mutation("a pair that is asked twice is taken for the truth", "truth", "scores rise by a leak", shows="pairs")
def asked_twice(base):
    # Search asks for the ground truth's video once more, for SVMR.
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        key = query_index * len(videos["mask"]) + video_index
        _, group, counts = key.unique(return_inverse=True, return_counts=True)
        twice = counts[group] > 1
        sharp = torch.where(twice, 10.0, 1.0).to(spans.start)
        score = None if spans.score is None else spans.score + 100 * twice
        mask = videos["mask"][video_index]
        return Spans(*(torch.where(mask, field * sharp[:, None], field) for field in spans[:2]), score)

    return {"span_logits": span_logits}


@mutation("later clips are favoured as ends", "constant", "spans reach to the end of their video", arguable=True)
def late_prior(base):
    return found(lambda spans, mask: spans._replace(end=torch.where(mask, spans.end + 2.0 * places(mask), spans.end)))(
        base
    )


@mutation(
    "earlier clips are favoured as starts", "constant", "spans reach back to the start of their video", arguable=True
)
def early_prior(base):
    return found(
        lambda spans, mask: spans._replace(start=torch.where(mask, spans.start - 2.0 * places(mask), spans.start))
    )(base)


@mutation("search exchanges the features of the clips' vectors", "index", "training is good, search is chance")
def rolled_features(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video, mask)
        return given if self.training else vectors(given, lambda x: x.roll(1, dims=-1))

    return {"encode_videos": encode_videos}
