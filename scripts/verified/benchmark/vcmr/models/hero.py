"""HERO: hierarchical encoder for video + language omni-representation pre-training (Li et al., EMNLP 2020), video only.

One transformer reads queries as token ids and videos as frames (a frame is one clip feature here), a second one the
frames in time. Word, position and type rows are added under a LayerNorm; type is row 1 for both words and frames.

    query:  h = BERT^6(LN(word + position + type_1)),  t = A(LN(FC(h) + position)),  q = Σ softmax(w·t) t
    frames: f = BERT^6(LN(W LN(frame) + position + type_1), one [CLS] word right after the last frame)
            v = BERT^3(LN(f + FC(frame) + position))
    video score = max_l cos(q, v_l),  start = Conv_5(W' q · v_l),  end = Conv_5'(W' q · v_l)
    loss = w · (hinge over all other videos + hinge over all other queries) + 0.01 · (CE(start) + CE(end))

FC(x) = ReLU(W · dropout(LN(x))), A an attention block without feed-forward part. Each hinge is a mean over all
negatives in the batch; from step 2000 on the 80 hardest weigh 10 and the others 0.1. The span term is computed in one
step of five. The recipe is that of the authors' video-only task (DiDeMo), without early stopping: its batch of 128 is
theirs of 32 on each of four devices.

Differences from the official code
- Only video-only retrieval is built: without poolers, masked-language, masked-frame and frame-order heads.
- No pre-training: weights start from RoBERTa (every second layer of its twelve, as the authors' pre-training did) where
  `roberta` names a folder, and otherwise from scratch. Expect results far below HERO's published level.
- Frame positions have as many rows as the context has clips (officially 100); other feature sizes than 4352 load.
- Videos are padded to the model's context length, officially to the longest of their batch: of a training step on one
  device, and of 50 videos in search. The kernels see computed pads, so the logits of the last two clips of the longest
  videos differ, and with them VCMR and SVMR lists. `retrieval.padding: official` pads as there (a training step has one
  batch of 128 all the same).
- A query keeps `query_tokens` tokens (30, as in the other models), officially 60.
- Spans are decoded and rows of zero probability dropped as search.py says; weights are selected once an epoch.
- Float32 or bf16 instead of float16 with fused kernels; negatives are those of one batch on one device.
"""

from dataclasses import dataclass
from pathlib import Path
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
    add_total,
    inclusive_end_two_clips,
)
from verified.benchmark.vcmr.layers import (
    AttentionBlock,
    BertEncoder,
    InputProjection,
    LearnedPositions,
    attention_pooling,
    initialise,
    to_longest,
    zero_pads,
)
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import OneVectorTail, unit
from verified.errors import InputError
from verified.nn.checkpoint import load_tensors
from verified.nn.layers import Dropout, Parts

PAD = -1e4
"""Scores and logits of pads."""
BERT_EPS = 1e-12
"""LayerNorm's epsilon inside BERT layers and attention blocks; elsewhere it is 1e-5."""
UNUSED = ("pooler", "lm_head", "feat_regress", "fom_output", "mask_embedding", "pad", "vocab_padded")
"""Modules and entries of the authors' state dict that video-only retrieval does not use."""


@dataclass(frozen=True, kw_only=True)
class HeroConfig(ModelConfig):
    """Widths and loss weights; defaults are those of the video-only task."""

    hidden: int = 768
    heads: int = 12
    feed_forward: int = 3072
    cross_layers: int = 6
    """Layers of the transformer that reads words and frames."""
    temporal_layers: int = 3
    """Layers of the transformer over the frames of a video."""
    positions: int = 514
    """Rows of the position tables of words and of the temporal transformer."""
    dropout: float = 0.1
    margin: float = 0.1
    rank_weight: float = 10.0
    """Weight of each ranking term."""
    hard_from_step: int = 2000
    hard_pool: int = 80
    """From `hard_from_step` on, this many hardest negatives of a row weigh 10, the others 0.1."""
    span_weight: float = 0.01
    span_share: float = 0.2
    """Share of the steps in which the span term is computed (1 − drop_svmr_prob)."""
    alpha: float = 20.0
    """A video weighs exp(alpha · cosine)."""
    roberta: str = ""
    """Folder with RoBERTa-base weights (model.safetensors) to start from; empty: from scratch."""


class WordEmbeddings(nn.Module):
    """LN(word + position + type_1); token ids [N, T] → [N, T, D]."""

    def __init__(self, vocabulary: int, rows: int, hidden: int, dropout: float):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, hidden)
        self.position_embeddings = nn.Embedding(rows, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        added = self.position_embeddings.weight[: ids.shape[1]] + self.token_type_embeddings.weight[1]
        return self.dropout(self.LayerNorm(self.word_embeddings(ids) + added))


class FrameEmbeddings(nn.Module):
    """LN(W LN(frame) + position + type); [V, L, F] and the row [D] of the words' type → [V, L, D]."""

    def __init__(self, size: int, rows: int, hidden: int, dropout: float):
        super().__init__()
        self.img_LayerNorm = nn.LayerNorm(size)
        self.img_linear = nn.Linear(size, hidden)
        self.position_embeddings = nn.Embedding(rows, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = Dropout(dropout)

    def forward(self, frames: Tensor, token_type: Tensor) -> Tensor:
        added = self.position_embeddings.weight[: frames.shape[1]] + token_type
        return self.dropout(self.LayerNorm(self.img_linear(self.img_LayerNorm(frames)) + added))


@register("hero")
class Hero(OneVectorTail, RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`."""

    config: HeroConfig
    Config = HeroConfig
    pad = PAD
    recipe = Recipe(
        optimiser="adamw",
        learning_rate=7e-5,
        batch=128,
        epochs=50,
        steps=5000,
        patience=5000,
        betas=(0.9, 0.98),
        warmup=0.1,
        schedule="linear",
        clip_norm=1.0,
    )
    small: ClassVar[dict[str, int | float]] = {
        "hidden": 48,
        "heads": 4,
        "feed_forward": 96,
        "cross_layers": 2,
        "temporal_layers": 1,
        "positions": 64,
        "span_share": 1.0,
    }
    query_input = "ids"
    normalise_video = False
    official_batch = 50
    label = staticmethod(inclusive_end_two_clips)

    def __init__(self, config: HeroConfig):
        super().__init__(config)
        hidden, dropout = config.hidden, config.dropout
        widths = (hidden, config.heads, config.feed_forward, dropout, BERT_EPS)
        cross, temporal = nn.Module(), nn.Module()
        cross.embeddings = WordEmbeddings(config.vocabulary, config.positions, hidden, dropout)
        cross.img_embeddings = FrameEmbeddings(config.video_dim, config.context_clips, hidden, dropout)
        cross.encoder = BertEncoder(config.cross_layers, *widths)
        temporal.embeddings = LearnedPositions(config.positions, hidden, dropout)
        temporal.encoder = BertEncoder(config.temporal_layers, *widths)
        self.v_encoder = Parts(
            {
                "f_encoder": cross,
                "frame_transform": InputProjection(config.video_dim, hidden, dropout),
                "c_encoder": temporal,
            }
        )
        self.q_feat_attn = Parts(
            {
                "query_input_proj": InputProjection(hidden, hidden, dropout),
                "query_pos_embed": LearnedPositions(config.positions, hidden, dropout),
                "query_self_attention": AttentionBlock(hidden, config.heads, dropout, BERT_EPS),
                "modular_vector_mapping": nn.Linear(hidden, 1, bias=False),
            }
        )
        self.video_query_linear = nn.Linear(hidden, hidden)
        self.video_st_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        self.video_ed_predictor = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        initialise(self)

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """The published state dict without pre-training heads and paddings (`UNUSED`)."""
        state = super().from_official(state)
        return {key: value for key, value in state.items() if not set(UNUSED) & set(key.split("."))}

    def initial_weights(self) -> None:
        """RoBERTa's words, positions and every second layer, if the config names a folder with `model.safetensors`.

        Raises InputError if the folder lacks it or the sizes differ.
        """
        if self.config.roberta:
            load_roberta(self.v_encoder["f_encoder"], Path(self.config.roberta))

    def words(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Words of the queries in the cross-modal transformer; [Q, T] → [Q, T, D]."""
        cross = self.v_encoder["f_encoder"]
        return cross.encoder(cross.embeddings(ids), mask)

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        query, mask = to_longest(query, mask)
        head = self.q_feat_attn
        tokens = head["query_pos_embed"](head["query_input_proj"](self.words(query, mask)))
        tokens = head["query_self_attention"](tokens, mask)
        vector = attention_pooling(tokens, head["modular_vector_mapping"](tokens).squeeze(2), mask)
        return {"vector": vector, "unit": unit(vector, 1e-5), "localiser": self.video_query_linear(vector)}

    def cross_modal(self, video: Tensor, mask: Tensor) -> Tensor:
        """Frames and, right after each video's last one, the [CLS] word; [V, L, F] → [V, L + 1, D]."""
        cross = self.v_encoder["f_encoder"]
        frames = cross.img_embeddings(video, cross.embeddings.token_type_embeddings.weight[1])
        word = cross.embeddings(torch.full_like(mask[:, :1], self.config.cls_id, dtype=torch.long))
        length = mask.sum(dim=1, keepdim=True)
        places = torch.arange(mask.shape[1] + 1, device=mask.device)
        sequence = torch.where((places == length).unsqueeze(2), word, F.pad(frames, (0, 0, 0, 1)))
        return cross.encoder(sequence, places <= length)

    def frame_embeddings(self, video: Tensor, mask: Tensor) -> Tensor:
        """Frames in time; [V, L, F] → [V, L, D]."""
        video = zero_pads(video, mask)
        context = self.cross_modal(video, mask)[:, : mask.shape[1]].masked_fill(~mask.unsqueeze(2), 0.0)
        temporal = self.v_encoder["c_encoder"]
        return temporal.encoder(temporal.embeddings(context + self.v_encoder["frame_transform"](video)), mask)

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        frames = self.frame_embeddings(video, mask)
        return {"unit": unit(frames, 1e-5), "localised": frames, "mask": mask}

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        scores = self.video_scores(queries, videos)
        pool = self.config.hard_pool if step >= self.config.hard_from_step else None
        losses = {
            "negative_video": self.config.rank_weight * full_hinge(scores, self.config.margin, pool),
            "negative_query": self.config.rank_weight * full_hinge(scores.T, self.config.margin, pool),
        }
        if torch.rand((), generator=generator) < self.config.span_share:
            span = self.span_loss(queries["localiser"], videos["localised"], batch)
            losses["span"] = self.config.span_weight * span
        return add_total(losses)


def full_hinge(scores: Tensor, margin: float, pool: int | None) -> Tensor:
    """Mean over all negatives of a row, then over rows, of max(0, margin + negative − positive).

    `scores` [N, N] of matched pairs (diagonal = positives). With `pool`, the `pool` hardest negatives of each row weigh
    10 and the others 0.1. A batch of one has no negatives and costs nothing.
    """
    count = len(scores)
    if count < 2:
        return scores.sum() * 0.0
    others = ~torch.eye(count, dtype=torch.bool, device=scores.device)
    negatives = scores[others].view(count, count - 1)
    losses = torch.clamp(margin + negatives - scores.diagonal().unsqueeze(1), min=0)
    if pool is not None:
        weights = torch.full_like(losses, 0.1).scatter_(1, negatives.topk(min(pool, count - 1), dim=1).indices, 10.0)
        losses = losses * weights
    return losses.mean()


def load_roberta(transformer: nn.Module, folder: Path) -> None:
    """Start the cross-modal transformer from RoBERTa-base: embeddings, and layers 1, 3, … of its twelve.

    RoBERTa knows one token type; both rows start from it. Rows of the vocabulary beyond RoBERTa's keep their values.
    Raises InputError if `folder` has no `model.safetensors` or its sizes do not fit.
    """
    file = folder / "model.safetensors"
    if not file.is_file():
        raise InputError(
            "no RoBERTa weights here", file=file, remedy="save roberta-base there, or leave `roberta` empty"
        )
    source = {key.removeprefix("roberta."): value for key, value in load_tensors(file).items()}
    tensors = {}
    for key, value in transformer.state_dict().items():
        if key.startswith("img_embeddings."):
            continue
        layer, _, rest = key.removeprefix("encoder.layer.").partition(".")
        name = f"encoder.layer.{2 * int(layer) + 1}.{rest}" if layer.isdecimal() else key
        tensor = source.get(name)
        if tensor is None or not tensor.ndim or tensor.shape[1:] != value.shape[1:]:
            shape = "no tensor" if tensor is None else f"shape {list(tensor.shape)}"
            raise InputError(f"{shape} where {name} of shape {list(value.shape)} is needed", file=file)
        tensors[key] = (
            tensor.expand_as(value) if len(tensor) == 1 else torch.cat([tensor, value[len(tensor) :]])[: len(value)]
        )
    transformer.load_state_dict(tensors, strict=False)
