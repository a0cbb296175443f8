"""CONQUER: contextual query-aware ranking for video corpus moment retrieval (Hou, Ngo, Chan; ACM Multimedia 2021).

Video-only form, in its "general" setting: the ranked list and its scores come from another model and do not change. v_l
are clip tokens, q_t query tokens, FC(x) = ReLU(W · dropout(LN(x))), BERT one BERT layer:

    v = BERT(LN(FC(video) + position + type_0)),  q = BERT(LN(FC(query) + position + type_1))
    s_lt = w · [v_l; q_t; v_l ∘ q_t] = w_1·v_l + w_2·q_t + (w_3 ∘ v_l)·q_t
    V2Q_l = Σ_t softmax_t(s_lt) q_t,  Q2V = Σ_l softmax_l(max_t s_lt) v_l
    QAL = [v; V2Q; v ∘ V2Q; v ∘ Q2V],  C = BERT(FC(QAL)),  G = [QAL; C]
    begin = BERT(FC(G)),  end = BERT(FC([C; begin])),  logits = Conv_1(ReLU(Conv_5(·)))
    loss = 0.01 · (CE(begin) + CE(end)), softmax over all clips of the ground-truth video and of the negatives, if any
           (the general setting has none)

With `video_head` ("exclusive" setting) the list is re-scored: score = MLP(max_l BERT(FC(G))), and 0.05 · CE(scores) is
added. Scores of moments: weight of the video · p_begin(i) · p_end(j).

As officially, videos are padded to the context length L and queries to T = `query_tokens`, in every batch. A clip that
is a pad attends to all T tokens equally and the kernels reach two such clips, so the logits of a video's last two clips
depend on T, and the exclusive head's scores on L too (`padding_reach`).

Differences from the official code
- Features made here are cast to float32 before they are normalised; officially float16 files are normalised in float16,
  which changes ranks. That is done for given features, and wherever `retrieval.feature_cast` is `official`.
- The similarity is split into its three products, so the [L, T, 3D] concatenation never exists.
- The video encoder does not see the query: each video is encoded once, not once per query that lists it.
- Clips behind a video's end are computed only as far as they reach its logits (two clips, the reach of the kernels).
  The exclusive head's maximum runs over pads, as officially, so with it all L clips are computed.
- Training uses the data set's own clip length and context length; the official training set ignored both options.
- A training query whose video is not in its list is omitted and counted; officially it stops the training.
- Spans are decoded and rows of zero probability dropped as search.py says.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import (
    Batch,
    Encoded,
    ModelConfig,
    Recipe,
    RetrievalModel,
    Spans,
    add_total,
    inclusive_end,
)
from verified.benchmark.vcmr.layers import InputProjection, initialise, longest, zero_pads
from verified.benchmark.vcmr.query_video import (
    Contextual,
    Transformer,
    attend,
    clip_logits,
    clip_scorer,
    computed_length,
    localise_in_chunks,
    shared_cross_entropy,
)
from verified.benchmark.vcmr.registry import register
from verified.nn.layers import Parts

CLIPS_AT_ONCE = 4096
"""Clips of (query, video) pairs that are computed at once: some 25 vectors of D each, 0.3 GB at D = 768."""


@dataclass(frozen=True, kw_only=True)
class ConquerConfig(ModelConfig):
    """Widths and loss weights; the defaults are the official ones."""

    hidden: int = 768
    heads: int = 12
    feed_forward: int = 3072
    score_channels: int = 128
    """Channels between the two convolutions of the begin and end scores, and in the exclusive head."""
    dropout: float = 0.1
    span_weight: float = 0.01
    video_head: bool = False
    """The "exclusive" setting: the list is re-scored."""
    video_weight: float = 0.05
    """Weight of the exclusive head's cross entropy."""


@register("conquer")
class Conquer(RetrievalModel):
    """See the head of this file."""

    config: ConquerConfig
    Config = ConquerConfig
    recipe = Recipe(
        optimiser="adamw", learning_rate=1e-4, batch=64, epochs=50, patience=3, drop_last=True, negative_pool=500
    )
    small: ClassVar[dict[str, int | float]] = {"hidden": 48, "heads": 4, "feed_forward": 96, "score_channels": 16}
    normalise_query = False
    label = staticmethod(inclusive_end)
    two_stage = True
    padding_reach = 2

    def __init__(self, config: ConquerConfig):
        super().__init__(config)
        hidden, dropout = config.hidden, config.dropout
        widths = (hidden, config.heads, config.feed_forward)
        self.rescores = config.video_head
        self.encoder = Parts(
            {
                "videoEncoder": Parts(
                    {
                        "linear": InputProjection(config.video_dim, hidden, dropout),
                        "transformer": Transformer(config.context_clips, *widths, token_type=0, dropout=dropout),
                    }
                ),
                "queryEncoder": Parts(
                    {
                        "linear": InputProjection(config.text_dim, hidden, dropout),
                        "transformer": Transformer(config.query_tokens, *widths, token_type=1, dropout=dropout),
                    }
                ),
            }
        )
        self.query_aware_feature_learning_layer = Parts({"similarity_weight": nn.Linear(3 * hidden, 1, bias=False)})
        self.contextual_QAL_feature_learning = Contextual(4 * hidden, *widths, dropout)
        self.moment_localization_head = Parts(
            {
                "begin_feature_modeling": Contextual(5 * hidden, *widths, dropout),
                "end_feature_modeling": Contextual(2 * hidden, *widths, dropout),
                "begin_score_modeling": Parts({"clip_score_predictor": clip_scorer(hidden, config.score_channels)}),
                "end_score_modeling": Parts({"clip_score_predictor": clip_scorer(hidden, config.score_channels)}),
            }
        )
        if config.video_head:
            self.video_scoring_head = Parts(
                {
                    "video_feature_modeling": Contextual(5 * hidden, *widths, dropout),
                    "video_score_predictor": nn.Sequential(
                        nn.Linear(hidden, config.score_channels, bias=False),
                        nn.ReLU(),
                        nn.Linear(config.score_channels, 1, bias=False),
                    ),
                }
            )
        initialise(self)

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """A video + subtitle state dict without its subtitle input and the fusion; a visual one unchanged."""
        state = {key.replace(".img_linear.", ".linear."): value for key, value in super().from_official(state).items()}
        dropped = ("encoder.videoEncoder.text_linear.", "query_weight.")
        return {key: value for key, value in state.items() if not key.startswith(dropped)}

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        """Tokens [Q, T, D], padded to the model's T because clips that are pads attend to all T tokens equally."""
        missing = self.config.query_tokens - query.shape[1]
        query, mask = F.pad(query, (0, 0, 0, missing)), F.pad(mask, (0, missing))
        encoder = self.encoder["queryEncoder"]
        return {"tokens": encoder["transformer"](encoder["linear"](zero_pads(query, mask)), mask), "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        """Tokens [V, L, D]."""
        encoder = self.encoder["videoEncoder"]
        return {"tokens": encoder["transformer"](encoder["linear"](zero_pads(video, mask)), mask), "mask": mask}

    def query_aware(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Tensor:
        """QAL of P pairs: tokens [P, L, D] and [P, T, D] with their masks → [P, L, 4D]."""
        seen = query[:, : longest(query_mask)]
        w_video, w_query, w_both = self.query_aware_feature_learning_layer["similarity_weight"].weight[0].chunk(3)
        similarity = (video * w_both) @ seen.transpose(1, 2)
        similarity = similarity + (video @ w_video)[:, :, None] + (seen @ w_query)[:, None, :]
        to_query, to_video = attend(similarity, video, query, video_mask, query_mask)
        return torch.cat([video, to_query, video * to_query, video * to_video], dim=2)

    def localise(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Spans:
        """Begin and end logits [P, L] of P pairs of tokens, and video scores [P] from the exclusive head."""
        clips = video.shape[1] if self.config.video_head else computed_length(video_mask)
        seen = video_mask[:, :clips]
        qal = self.query_aware(video[:, :clips], seen, query, query_mask)
        context = self.contextual_QAL_feature_learning(qal, seen)
        both = torch.cat([qal, context], dim=2)
        head = self.moment_localization_head
        begin = head["begin_feature_modeling"](both, seen)
        end = head["end_feature_modeling"](torch.cat([context, begin], dim=2), seen)
        score = None
        if self.config.video_head:
            features = self.video_scoring_head["video_feature_modeling"](both, seen).amax(dim=1)
            score = self.video_scoring_head["video_score_predictor"](features).squeeze(1)
        return Spans(
            clip_logits(head["begin_score_modeling"]["clip_score_predictor"], begin, video_mask),
            clip_logits(head["end_score_modeling"]["clip_score_predictor"], end, video_mask),
            score,
        )

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        items, slots = batch.video.shape[:2]
        videos = self.encode_videos(batch.video.flatten(0, 1), batch.video_mask.flatten(0, 1))
        queries = self.encode_queries(batch.query, batch.query_mask)
        tokens, mask = (queries[name].repeat_interleave(slots, dim=0) for name in ("tokens", "mask"))
        spans = self.localise(videos["tokens"], videos["mask"], tokens, mask)
        begin, end = (logits.view(items, slots, -1) for logits in (spans.start, spans.end))
        losses = {
            "moment": self.config.span_weight
            * (shared_cross_entropy(begin, batch.span[:, 0]) + shared_cross_entropy(end, batch.span[:, 1]))
        }
        if spans.score is not None:
            scores = spans.score.view(items, slots)
            losses["video"] = self.config.video_weight * F.cross_entropy(scores, torch.zeros_like(batch.span[:, 0]))
        return add_total(losses)

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index, CLIPS_AT_ONCE)

    def pair_bytes(self) -> int:
        return 8 * self.config.hidden * (self.config.context_clips + self.config.query_tokens)

    def video_weights(self, scores: Tensor) -> Tensor:
        """The external scores [Q, videos] as given; their softmax where the exclusive head has re-scored the list."""
        return torch.softmax(scores, dim=1) if self.config.video_head else scores
