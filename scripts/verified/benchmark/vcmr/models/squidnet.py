"""SQuiDNet: selective query-guided debiasing for video corpus moment retrieval (Yoon et al., ECCV 2022).

Video-only form: the video encoder reads one modality, and the fusion with subtitles (NetVLAD weights) is absent.
Masking all subtitle tokens of the official class gives the same map. v_l are clip tokens, q_t query tokens, FC(x) =
ReLU(W · dropout(LN(x))), BERT one BERT layer:

    v = BERT(LN(FC(video) + position + type_0)),  q = BERT(LN(FC(query) + position + type_1))
    s_lt = w · ReLU(W [v_l; q_t; v_l ∘ q_t]) = w · ReLU(W_1 v_l + W_2 q_t + W_3 (v_l ∘ q_t))
    V2Q_l = Σ_t softmax_t(s_lt) q_t,  Q2V = Σ_l softmax_l(max_t s_lt) v_l
    X = [v; V2Q; v ∘ Q2V],  JS = BERT(FC(X)),  G = [X; JS]
    start = BERT(FC(G)),  end = BERT(FC([JS; start])),  logits = Conv_1(ReLU(Conv_5(·)))
    video score = MLP(max_l G), maximum over all L positions, pads included
    loss = 0.01 · (CE(start) + CE(end)) + 0.005 · CE(video scores)

Softmaxes of the loss run over the ground-truth video and the negatives (all their clips together for start and end). A
listed video weighs softmax(video scores of the list); a moment scores weight · p_start(i) · p_end(j).

As officially, videos are padded to the context length L and queries to T = `query_tokens`, in every batch. A clip that
is a pad attends to all T tokens equally and the kernels reach two such clips, so the logits of a video's last two clips
depend on T, and its score, a maximum over pads too, on T and L (`padding_reach`).

Differences from the official code
- Features made here are cast to float32 before they are normalised; officially float16 files are normalised in float16,
  which changes ranks. That is done for given features, and wherever `retrieval.feature_cast` is `official`.
- Negatives come from one pool (rank of the ground truth + 500). The official pool shrinks to rank + 50 for queries
  whose noun and verb co-occur often, by tables made for TVR; the flag behind it never reached the loss.
- The similarity is computed token by token without the [L, T, 3D] concatenation, for real clips and tokens only.
- Each video is encoded once, not once per query that lists it; start and end are computed two clips (the reach of the
  kernels) beyond the longest video of a chunk.
- Clip length and context length are the data set's; the official code fixed 1.5 s and 100 clips.
- A training query whose video is not in its list is omitted and counted.
- Spans are decoded and rows of zero probability dropped as search.py says.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
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

QUERY_LENGTHS, PAIRS_OF_A_LENGTH = 4, 16
"""Groups of pairs by the length of their queries, at most, and pairs in each, at least: in fewer, calls cost more."""


@register("squidnet")
class Squidnet(QueryVideoModel):
    """See the head of this file."""

    Config = QueryVideoConfig
    recipe = Recipe(
        optimiser="adamw",
        learning_rate=1e-4,
        batch=16,
        epochs=20,
        patience=3,
        drop_last=True,
        negatives=15,
        negative_pool=500,
    )
    small: ClassVar[dict[str, int | float]] = {
        "hidden": 48,
        "heads": 4,
        "feed_forward": 96,
        "score_channels": 16,
        "dropout": 0.0,
        # With the official weights the video head's gradients stay below AdamW's epsilon at this width.
        "span_weight": 0.1,
        "video_weight": 0.2,
    }
    two_stage = True
    rescores = True

    def __init__(self, config: QueryVideoConfig):
        super().__init__(config)
        hidden, channels, dropout = config.hidden, config.score_channels, config.dropout
        widths = (hidden, config.heads, config.feed_forward)
        self.MMAencoder = Parts(
            {
                "vsMMA": encoder(config.video_dim, config.context_clips, config, 0, "img_linear"),
                "text_enc": encoder(config.text_dim, config.query_tokens, config, 1),
            }
        )
        self.VQMMA = Parts(
            {
                "sim_weight": nn.Sequential(
                    nn.Linear(3 * hidden, hidden, bias=False), nn.ReLU(), nn.Linear(hidden, 1, bias=False)
                )
            }
        )
        self.JS_emb = Contextual(3 * hidden, *widths, dropout)
        self.CMP = Parts(
            {
                "start_JSemb": Contextual(4 * hidden, *widths, dropout),
                "conditional_end_JSemb": Contextual(2 * hidden, *widths, dropout),
                "start_moment_prediction": Parts({"moment_predictor": clip_scorer(hidden, channels)}),
                "end_moment_prediction": Parts({"moment_predictor": clip_scorer(hidden, channels)}),
                "video_predictor": nn.Sequential(
                    nn.Linear(4 * hidden, hidden, bias=False),
                    nn.ReLU(),
                    nn.Linear(hidden, channels, bias=False),
                    nn.ReLU(),
                    nn.Linear(channels, 1, bias=False),
                ),
            }
        )
        initialise(self)

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """The published state dict without its subtitle input and the fusion with it."""
        dropped = ("MMAencoder.vsMMA.text_linear.", "nvld_query_weight.")
        return {key: value for key, value in super().from_official(state).items() if not key.startswith(dropped)}

    def encoders(self) -> tuple[Parts, Parts]:
        return self.MMAencoder["vsMMA"], self.MMAencoder["text_enc"]

    def similarity(self, video: Tensor, query: Tensor) -> Tensor:
        """s of P pairs, [P, L, D] and [P, T, D] → [P, L, T]; the peak memory is a few [P, L, D], for one token."""
        first, _, second = self.VQMMA["sim_weight"]
        of_video, of_query, of_both = (weight.contiguous() for weight in first.weight.chunk(3, dim=1))
        video_part, query_part = F.linear(video, of_video), F.linear(query, of_query)
        scores = [
            torch.relu(F.linear(video * query[:, t, None], of_both) + video_part + query_part[:, t, None])
            @ second.weight[0]
            for t in range(query.shape[1])
        ]
        return torch.stack(scores, dim=2)

    def _real_similarity(self, video: Tensor, query: Tensor, query_mask: Tensor) -> Tensor:
        """s [P, L, T'] up to the last real token; pairs whose queries are of like length are computed together."""
        tokens, pairs = query_mask.sum(dim=1), len(query)
        parts = []
        order = torch.argsort(tokens, stable=True)
        for rows in order.chunk(max(1, min(QUERY_LENGTHS, pairs // PAIRS_OF_A_LENGTH))):
            real = query.index_select(0, rows)[:, : int(tokens[rows].max())]
            part = self.similarity(video.index_select(0, rows), real)
            parts.append(F.pad(part, (0, int(tokens.max()) - real.shape[1])))
        return torch.cat(parts).index_select(0, torch.argsort(order))

    def localise(self, video: Tensor, video_mask: Tensor, query: Tensor, query_mask: Tensor) -> Spans:
        """Start and end logits [P, L] and video scores [P] of P pairs of tokens."""
        similarity = self._real_similarity(video[:, : longest(video_mask)], query, query_mask)
        to_query, to_video = attend(similarity, video, query, video_mask, query_mask)
        features = torch.cat([video, to_query, video * to_video], dim=2)
        joint = torch.cat([features, self.JS_emb(features, video_mask)], dim=2)
        near = joint[:, : computed_length(video_mask)]
        mask = video_mask[:, : near.shape[1]]
        start = self.CMP["start_JSemb"](near, mask)
        end = self.CMP["conditional_end_JSemb"](torch.cat([near[:, :, 3 * self.config.hidden :], start], dim=2), mask)
        return Spans(
            clip_logits(self.CMP["start_moment_prediction"]["moment_predictor"], start, video_mask),
            clip_logits(self.CMP["end_moment_prediction"]["moment_predictor"], end, video_mask),
            self.CMP["video_predictor"](joint.amax(dim=1)).squeeze(1),
        )
