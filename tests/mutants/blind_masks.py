"""Blind mutations of masks, pads, lengths, positions and limits."""

import torch

from mutants.blind_registry import (
    ALL,
    ONE_STAGE,
    ONE_VECTOR,
    TWO_STAGE,
    encoded,
    found,
    lengths,
    localised,
    mutation,
    places,
    queries_read,
    video_encoder,
    videos_read,
    with_names,
)


def at_pads(spans, mask, name):
    """Pads of one field hold what lies at the clip before: no mask was applied."""
    logits = getattr(spans, name)
    last = logits.gather(1, lengths(mask) - 1)
    return spans._replace(**{name: torch.where(mask, logits, last)})


@mutation("start logits of pads are not masked", "mask", "moments begin behind the video's end")
def starts_in_pads(base):
    return found(lambda spans, mask: at_pads(spans, mask, "start"))(base)


@mutation("end logits of pads are not masked", "mask", "moments end behind the video's end")
def ends_in_pads(base):
    return found(lambda spans, mask: at_pads(spans, mask, "end"))(base)


@mutation("the start's loss counts pads", "mask", "short videos train towards nothing", shows="training")
def loss_starts_in_pads(base):
    return localised(lambda spans, mask: at_pads(spans, mask, "start"), training=True)(base)


@mutation("the end's loss counts pads", "mask", "short videos train towards nothing", shows="training")
def loss_ends_in_pads(base):
    return localised(lambda spans, mask: at_pads(spans, mask, "end"), training=True)(base)


@mutation("pads are masked with a small number", "mask", "short videos lose probability to their pads")
def weakly_masked(base):
    return found(
        lambda spans, mask: spans._replace(start=spans.start.where(mask, -1.0), end=spans.end.where(mask, -1.0))
    )(base)


@mutation("video scores see pads", "mask", "short videos rank by their padding", models=ONE_VECTOR)
def scores_of_pads(base):
    def video_scores(self, queries, videos):
        return base.video_scores(self, queries, {**videos, "mask": torch.ones_like(videos["mask"])})

    return {"video_scores": video_scores}


@mutation("the video encoder attends to pads", "mask", "clips depend on how far the video is padded")
def attends_to_pads(base):
    return videos_read(lambda video, mask: (video, torch.ones_like(mask)))(base)


@mutation("pads of queries count as words", "mask", "short sentences are drowned in padding")
def words_in_pads(base):
    return queries_read(lambda query, mask: (query, torch.ones_like(mask)))(base)


@mutation(
    "what lies behind a video's end leaks into its clips", "mask", "dirty padding changes answers", shows="garbage"
)
def dirty_video_pads(base):
    def change(video, mask):
        behind = (video * ~mask.unsqueeze(2)).sum(dim=1, keepdim=True)
        return video + 0.1 * behind, mask

    return videos_read(change)(base)


@mutation(
    "what lies behind a query's end leaks into its words",
    "mask",
    "dirty padding changes answers",
    models=tuple(name for name in ALL if name != "hero"),
    shows="garbage",
)
def dirty_query_pads(base):
    def change(query, mask):
        behind = (query * ~mask.unsqueeze(2)).sum(dim=1, keepdim=True)
        return query + 0.1 * behind, mask

    return queries_read(change)(base)


@mutation(
    "only the pad right behind a video's end leaks",
    "mask",
    "dirty padding changes the last clip's answers",
    shows="garbage",
)
def one_dirty_pad(base):
    def change(video, mask):
        next_clip = torch.cat([video[:, 1:], video[:, -1:] * 0], dim=1)
        at_end = (places(mask) == lengths(mask) - 1).unsqueeze(2)
        return torch.where(at_end, video + 0.3 * next_clip, video), mask

    return videos_read(change)(base)


@mutation("a clip of zeros is taken for a pad", "mask", "black frames vanish from videos", shows="zeros")
def black_is_pad(base):
    def change(video, mask):
        real = video.abs().sum(dim=2) > 0
        return video, real | (places(mask) == 0)

    return videos_read(change)(base)


@mutation(
    "what lies behind a video's end is a clip unless it is zero", "mask", "old buffers become clips", shows="garbage"
)
def garbage_is_real(base):
    return videos_read(lambda video, mask: (video, mask | (video.abs().sum(dim=2) > 0)))(base)


@mutation("the mask is that of the batch's longest video", "mates", "a clip's vector depends on batch mates")
def longest_mask(base):
    return videos_read(lambda video, mask: (video, mask.any(dim=0, keepdim=True).expand_as(mask).contiguous()))(base)


@mutation("the query's mask is that of the batch's longest query", "mates", "an answer depends on who else asks")
def longest_query_mask(base):
    return queries_read(lambda query, mask: (query, mask.any(dim=0, keepdim=True).expand_as(mask).contiguous()))(base)


def without(which):
    """A mask without one real position, of rows that have more than one."""

    def change(x, mask):
        at = places(mask) == which(mask)
        return x, mask & ~(at & (lengths(mask) > 1))

    return change


@mutation("the last clip is hidden from attention", "hidden", "what ends the video is not seen")
def last_clip(base):
    return videos_read(without(lambda mask: lengths(mask) - 1))(base)


@mutation("the first clip is hidden from attention", "hidden", "what opens the video is not seen")
def first_clip(base):
    return videos_read(without(lambda mask: 0))(base)


@mutation("the last word is hidden", "hidden", "the sentence's end says nothing")
def last_word(base):
    return queries_read(without(lambda mask: lengths(mask) - 1))(base)


@mutation("the first word is hidden", "hidden", "the sentence's start says nothing")
def first_word(base):
    return queries_read(without(lambda mask: 0))(base)


@mutation("the last clip can be no end", "hidden", "moments that close a video are cut short")
def no_end_at_last(base):
    def change(spans, mask):
        at = (places(mask) == lengths(mask) - 1) & (lengths(mask) > 1)
        return spans._replace(end=spans.end.masked_fill(at, -1e4))

    return found(change)(base)


@mutation("the first clip can be no start", "hidden", "moments that open a video lose their first clip")
def no_start_at_first(base):
    def change(spans, mask):
        return spans._replace(start=spans.start.masked_fill((places(mask) == 0) & (lengths(mask) > 1), -1e4))

    return found(change)(base)


@mutation("the last clip counts for no video score", "hidden", "a video is lost by its best clip", models=ONE_VECTOR)
def unscored_last(base):
    def video_scores(self, queries, videos):
        return base.video_scores(
            self, queries, {**videos, "mask": without(lambda m: lengths(m) - 1)(0, videos["mask"])[1]}
        )

    return {"video_scores": video_scores}


@mutation("every second clip is skipped", "hidden", "half of each video is never looked at")
def stride(base):
    return videos_read(lambda video, mask: (video[:, places(mask)[0] // 2 * 2], mask))(base)


@mutation("videos are cut to half of the context", "limit", "nothing in a second half is ever found")
def half_context(base):
    return videos_read(lambda video, mask: (video, mask & (places(mask) < (mask.shape[1] + 1) // 2)))(base)


@mutation("videos are cut to 100 clips", "limit", "nothing behind the hundredth clip is ever found", shows="long")
def hundred_clips(base):
    return videos_read(lambda video, mask: (video, mask & (places(mask) < 100)))(base)


@mutation("logits exist for 100 clips only", "limit", "no moment behind the hundredth clip", shows="long")
def hundred_logits(base):
    def change(spans, mask):
        hidden = mask & (places(mask) >= 100)
        return spans._replace(start=spans.start.masked_fill(hidden, -1e4), end=spans.end.masked_fill(hidden, -1e4))

    return localised(change)(base)


@mutation("queries are cut to half of their tokens' limit", "limit", "the second half of a long sentence is ignored")
def half_query(base):
    return queries_read(lambda query, mask: (query, mask & (places(mask) < (mask.shape[1] + 1) // 2)))(base)


@mutation("queries are cut to 16 tokens", "limit", "long descriptions, the point of FIG, are cut", shows="long")
def sixteen_tokens(base):
    return queries_read(lambda query, mask: (query, mask & (places(mask) < 16)))(base)


@mutation("lengths are counted in 8 bits", "overflow", "videos of 128 clips and more lose all clips", shows="long")
def eight_bits(base):
    def change(video, mask):
        count = mask.sum(dim=1, keepdim=True).to(torch.int8)
        return video, (places(mask) < count) | (places(mask) == 0)

    return videos_read(change)(base)


@mutation("clips are numbered in 8 bits", "overflow", "moments late in long videos move to its start", shows="long")
def numbered_in_eight_bits(base):
    def change(spans, mask):
        index = (places(mask) % 128).expand_as(mask)
        return spans._replace(start=torch.where(mask, spans.start.gather(1, index), spans.start))

    return found(change)(base)


@mutation("clips have no positions", "position", "before and after look alike", arguable=True)
def no_positions(base):
    name = video_encoder(base)

    def encoder(self, video, mask):
        kept = [(n, p) for n, p in self.named_parameters() if n.endswith("position_embeddings.weight")]
        values = [p.data for _, p in kept]
        for _, parameter in kept:
            parameter.data = torch.zeros_like(parameter.data)
        encoded = getattr(base, name)(self, video, mask)
        for (_, parameter), value in zip(kept, values):
            parameter.data = value
        return encoded

    return {name: encoder}


@mutation("positions are drawn anew at each call", "position", "no two searches agree", shows="unsteady")
def drawn_positions(base):
    def change(video, mask):
        return video + 0.1 * torch.randn(video.shape[1:]).to(video) * mask.unsqueeze(2), mask

    return videos_read(change)(base)


@mutation("the pooling of words runs over the batch", "mates", "an answer depends on who else asks", models=ONE_VECTOR)
def pooled_over_batch(base):
    def pooling(tokens, scores, mask):
        weights = torch.softmax(scores.masked_fill(~mask, -1e10), dim=0)
        return torch.einsum("ns,nsd->nd", weights, tokens)

    return {"encode_queries": with_names(base.encode_queries, attention_pooling=pooling)}


@mutation("words are averaged over the padded length", "mask", "short sentences are short vectors", models=ONE_VECTOR)
def averaged_over_pads(base):
    def pooling(tokens, scores, mask):
        return tokens.mean(dim=1) + 0 * scores.sum()

    return {"encode_queries": with_names(base.encode_queries, attention_pooling=pooling)}


@mutation(
    "the weight of a word runs over pads", "mask", "a word counts less in a shorter sentence", models=("late_span",)
)
def weights_of_pads(base):
    def encode_queries(self, query, mask):
        given = base.encode_queries(self, query, mask)
        return {**given, "weight": self.token_weight(given["tokens"]).squeeze(2).softmax(dim=1)}

    return {"encode_queries": encode_queries}


@mutation("clips attend to pads of the query", "mask", "answers depend on padding", models=("late_span", *TWO_STAGE))
def query_pads_attended(base):
    def localise(self, clips, mask, tokens, token_mask):
        return base.localise(self, clips, mask, tokens, torch.ones_like(token_mask))

    return {"localise": localise}


@mutation(
    "a video's vectors shrink with its length", "length", "long videos are found less", models=ONE_STAGE, arguable=True
)
def shrink_with_length(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video, mask)
        return {**given, "unit": given["unit"] / lengths(mask).unsqueeze(2) ** 0.5}

    return {"encode_videos": encode_videos}


@mutation(
    "a video's vectors grow with its length",
    "length",
    "long videos are found too often",
    models=ONE_STAGE,
    arguable=True,
)
def grow_with_length(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video, mask)
        return {**given, "unit": given["unit"] * lengths(mask).unsqueeze(2) ** 0.5}

    return {"encode_videos": encode_videos}


@mutation(
    "the mask is that of the videos encoded last", "state", "blocks of a corpus get others' masks", shows="blocks"
)
def remembered_mask(base):
    def encode_videos(self, video, mask):
        self.last_mask = mask
        return base.encode_videos(self, video, mask)

    def span_logits(self, queries, videos, query_index, video_index):
        last = self.last_mask[torch.arange(len(videos["mask"])) % len(self.last_mask)]
        return base.span_logits(self, queries, {**videos, "mask": last}, query_index, video_index)

    return {"encode_videos": encode_videos, "span_logits": span_logits}


@mutation("encodings share one buffer", "state", "a corpus of several blocks holds the last one over", shows="blocks")
def shared_buffer(base):
    buffers = {}

    def change(x):
        key = (x.shape[1:], x.dtype)
        if key not in buffers or len(buffers[key]) < len(x):
            buffers[key] = torch.empty_like(x)
        if x.requires_grad:
            return x
        return buffers[key][: len(x)].copy_(x)

    return encoded("videos", change, ("localised", "tokens"))(base)
