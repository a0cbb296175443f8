"""Mutations of encodings: what is encoded together, pads, what is read."""

import torch

from mutants.kinds import encoding, logits
from mutants.registry import ONE_STAGE, mutation

# What is encoded together


@mutation("encoded clips are centred over the videos of the batch")
def centred_videos(base):
    return encoding("videos", lambda x, values, mask: x - x.mean(dim=0))(base)


@mutation("encoded queries are centred over the batch")
def centred_queries(base):
    return encoding("queries", lambda x, values, mask: x - x.mean(dim=0))(base)


@mutation("encoded clips are divided by the largest of the batch")
def scaled_by_the_batch(base):
    return encoding("videos", lambda x, values, mask: x / x.abs().max())(base)


@mutation("clip vectors of the video score are centred over the batch", ONE_STAGE)
def centred_scores(base):
    def encode_videos(self, video, mask):
        encoded = base.encode_videos(self, video, mask)
        return {**encoded, "unit": encoded["unit"] - encoded["unit"].mean(dim=0)}

    return {"encode_videos": encode_videos}


@mutation("a video's encoding depends on its position in the batch")
def position_in_the_batch(base):
    def change(x, values, mask):
        return x + 0.05 * torch.randn(len(x), *x.shape[1:], generator=torch.Generator().manual_seed(1), dtype=x.dtype)

    return encoding("videos", change)(base)


@mutation("starts are centred over the pairs at hand")
def centred_pairs(base):
    return logits(lambda spans: spans._replace(start=spans.start - spans.start.mean(dim=0)))(base)


@mutation("new scores are centred over the pairs at hand", ("squidnet",))
def centred_rescoring(base):
    return logits(lambda spans: spans._replace(score=spans.score - spans.score.mean()))(base)


@mutation("every pair is localised with the first query of the chunk")
def first_query(base):
    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, videos, torch.zeros_like(query_index), video_index)

    return {"span_logits": span_logits}


@mutation("spans come from the videos that were encoded last")
def stale_videos(base):
    def encode_videos(self, video, mask):
        self.last = base.encode_videos(self, video, mask)
        return self.last

    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, self.last, query_index, video_index % len(self.last["mask"]))

    return {"encode_videos": encode_videos, "span_logits": span_logits}


# Pads


@mutation("clips are scaled by the mean over all, pads included")
def mean_with_video_pads(base):
    return encoding("videos", lambda x, values, mask: x * (1 + values.mean(dim=(1, 2))[:, None, None]))(base)


@mutation("a query is scaled by the mean over its tokens, pads included")
def mean_with_query_pads(base):
    def change(x, values, mask):
        mean = values.to(x.dtype).flatten(1).mean(dim=1)
        return x * (1 + mean).view(-1, *[1] * (x.dim() - 1))

    return encoding("queries", change)(base)


@mutation("the video encoder sees pads as clips")
def video_mask_forgotten(base):
    def encode_videos(self, video, mask):
        return {**base.encode_videos(self, video, torch.ones_like(mask)), "mask": mask}

    return {"encode_videos": encode_videos}


@mutation("the query encoder sees pads as tokens")
def query_mask_forgotten(base):
    def encode_queries(self, query, mask):
        return base.encode_queries(self, query, torch.ones_like(mask))

    return {"encode_queries": encode_queries}


@mutation("clips attend to pads that are filtered")
def video_mask_forgotten_behind_the_filter(base):
    def encode_videos(self, video, mask):
        video = video.masked_fill(~mask.unsqueeze(2), 0.0)
        return {**base.encode_videos(self, video, torch.ones_like(mask)), "mask": mask}

    return {"encode_videos": encode_videos}


@mutation("tokens attend to pads that are filtered")
def query_mask_forgotten_behind_the_filter(base):
    def encode_queries(self, query, mask):
        query = query.masked_fill(~mask.unsqueeze(2) if query.dim() == 3 else ~mask, 0)
        encoded = base.encode_queries(self, query, torch.ones_like(mask))
        return {**encoded, "mask": mask} if "mask" in encoded else encoded

    return {"encode_queries": encode_queries}


@mutation("pads are open for ends")
def open_ends(base):
    return logits(lambda spans: spans._replace(end=spans.end.clamp(min=-5)))(base)


# What is read


@mutation("the last token of a query is not read")
def last_token_unread(base):
    def encode_queries(self, query, mask):
        shorter = mask & torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)
        return base.encode_queries(self, query, torch.where(mask.sum(1, keepdim=True) > 1, shorter, mask))

    return {"encode_queries": encode_queries}


@mutation("the longest queries lose a token")
def longest_query_cut(base):
    def encode_queries(self, query, mask):
        cut = mask.clone()
        cut[:, -1] = False
        return base.encode_queries(self, query, cut)

    return {"encode_queries": encode_queries}


@mutation("the first clip of a video is not read")
def first_clip_unread(base):
    def encode_videos(self, video, mask):
        video = video.clone()
        video[:, 0] = 0
        return base.encode_videos(self, video, mask)

    return {"encode_videos": encode_videos}


@mutation("a query is divided by the deviation of its tokens, which one token has not")
def deviation_of_one_token(base):
    def change(x, values, mask):
        values = values.to(x.dtype).reshape(*values.shape[:2], -1)
        deviation = torch.stack([row[real].std(dim=0).mean() for row, real in zip(values, mask)])
        return x / (1 + deviation).view(-1, *[1] * (x.dim() - 1))

    return encoding("queries", change)(base)
