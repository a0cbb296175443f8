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
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import Recipe, Spans
from verified.benchmark.vcmr.layers import initialise, longest
from verified.benchmark.vcmr.query_video import (
    Contextual,
    QueryVideoConfig,
    QueryVideoModel,
    attend,
    clip_logits,
    clip_scorer,
    computed_length,
    encoder,
)
from verified.benchmark.vcmr.registry import register
from verified.nn.layers import Parts


@dataclass(frozen=True, kw_only=True)
class ConquerConfig(QueryVideoConfig):
    """The official values."""

    video_head: bool = False
    """The "exclusive" setting: the list is re-scored."""
    video_weight: float = 0.05


@register("conquer")
class Conquer(QueryVideoModel):
    """See the head of this file."""

    config: ConquerConfig
    Config = ConquerConfig
    recipe = Recipe(
        optimiser="adamw", learning_rate=1e-4, batch=64, epochs=50, patience=3, drop_last=True, negative_pool=500
    )
    small: ClassVar[dict[str, int | float]] = {"hidden": 48, "heads": 4, "feed_forward": 96, "score_channels": 16}
    two_stage = True

    def __init__(self, config: ConquerConfig):
        super().__init__(config)
        hidden, dropout = config.hidden, config.dropout
        widths = (hidden, config.heads, config.feed_forward)
        self.rescores = config.video_head
        self.encoder = Parts(
            {
                "videoEncoder": encoder(config.video_dim, config.context_clips, config, token_type=0),
                "queryEncoder": encoder(config.text_dim, config.query_tokens, config, token_type=1),
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

    def encoders(self) -> tuple[Parts, Parts]:
        return self.encoder["videoEncoder"], self.encoder["queryEncoder"]

    def query_aware(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Tensor:
        """QAL of P pairs: tokens [P, L, D] and [P, T, D] with their masks → [P, L, 4D]."""
        words = query[:, : longest(query_mask)]
        w_video, w_query, w_both = self.query_aware_feature_learning_layer["similarity_weight"].weight[0].chunk(3)
        similarity = (video * w_both) @ words.transpose(1, 2)
        similarity = similarity + (video @ w_video)[:, :, None] + (words @ w_query)[:, None, :]
        to_query, to_video = attend(similarity, video, query, video_mask, query_mask)
        return torch.cat([video, to_query, video * to_query, video * to_video], dim=2)

    def localise(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Spans:
        """Begin and end logits [P, L] of P pairs of tokens, and video scores [P] from the exclusive head."""
        clips = video.shape[1] if self.config.video_head else computed_length(video_mask)
        mask = video_mask[:, :clips]
        qal = self.query_aware(video[:, :clips], mask, query, query_mask)
        context = self.contextual_QAL_feature_learning(qal, mask)
        both = torch.cat([qal, context], dim=2)
        head = self.moment_localization_head
        begin = head["begin_feature_modeling"](both, mask)
        end = head["end_feature_modeling"](torch.cat([context, begin], dim=2), mask)
        score = None
        if self.config.video_head:
            features = self.video_scoring_head["video_feature_modeling"](both, mask).amax(dim=1)
            score = self.video_scoring_head["video_score_predictor"](features).squeeze(1)
        return Spans(
            clip_logits(head["begin_score_modeling"]["clip_score_predictor"], begin, video_mask),
            clip_logits(head["end_score_modeling"]["clip_score_predictor"], end, video_mask),
            score,
        )
