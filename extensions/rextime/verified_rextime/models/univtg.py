"""UniVTG: unified video-language temporal grounding (Lin et al., ICCV 2023; github.com/showlab/UniVTG).

Every clip i of a video of N clips, whose centre is t_i = (i + 1/2) / N, answers a query by three numbers: whether it
belongs to the moment (f_i), how far the moment reaches to either side (d_i), and how salient it is (s_i). With FC(x) =
W · dropout(LN(x)) and type_0, type_1 learned vectors:

    v = FC(ReLU(FC([video; i/N; (i + 1)/N]))) + type_1,  q = FC(ReLU(FC(query))) + type_0
    [v'; q'] = four layers of attention over clips and tokens together; clips have positions, tokens none
    f = σ(Conv_3(ReLU(Conv_3(ReLU(Conv_3(v'))))))       d = σ(as many layers of their own, two numbers)
    window b_i = [t_i − d_i^s, t_i + d_i^e]              with score f_i
    s_i = cos(v_i, m),  m = Σ_t softmax_t(w · q_t) q_t   (attentive pooling; before the layers)

Losses, with the paper's symbols (section 4). L_b, over the clips inside the moment: `boundary_weight` · smooth L1 and
`giou_weight` · (1 − GIoU) of b_i and the moment. L_f, over all clips: `foreground_weight` · binary cross entropy of
f_i, where those outside weigh `background`. L_s, for one clip p drawn from the moment: `intra_weight` · the contrast of
s_p with the clips outside and `inter_weight` · that with the other queries' p, both ways and divided by `temperature`.
Windows are ranked by f_i; in VCMR, by exp(max_i s_i / temperature) · f_i, which is ours: the paper looks for moments in
a given video.

Differences from the official code
- A query has one moment, in whole clips, those that it touches, which are equally salient; officially in seconds, and
  in QVHighlights several with graded clips.
- t_i is the clip's centre for every clip length; officially (i + c/2) / N with c in seconds, right for c = 1 alone.
  Weights that learnt to reach out from there need it (`clip_centre`); `verified import` sets it.
- Clips behind a video's end are zeros before each convolution, so that no answer depends on padding; officially they
  hold outputs of attention, which reach the last three clips.
- The rate rises over 5 % of the steps and falls linearly to zero; officially it rises for 10 of 200 epochs and falls to
  a tenth after each 80. AdamW is that of the other models: its ε is 1e-6, and it does not decay biases.
- Windows come out with fractions of clips, cut to the video; NMS is the data set's (officially at tIoU 0.7).
- The pre-training on pseudo labels of several corpora is not implemented: `verified import` reads its weights.
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
from verified.benchmark.vcmr.decode import spans_of_windows
from verified.benchmark.vcmr.layers import InputProjection, attention_pooling, longest, zero_pads
from verified.benchmark.vcmr.query_video import localise_in_chunks
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import PAD, max_over_clips, unit
from verified.nn.layers import Layers, Parts, whole
from verified_rextime.detr import PositionedLayer, generalised_iou, sine_positions, xavier


@dataclass(frozen=True, kw_only=True)
class UniVTGConfig(ModelConfig):
    """Widths and loss weights; the defaults are those of the authors' script for QVHighlights."""

    hidden: int = 1024
    heads: int = 8
    feed_forward: int = 1024
    layers: int = 4
    dropout: float = 0.5
    """Dropout of the projections of clips and tokens."""
    attention_dropout: float = 0.0
    path_dropout: float = 0.1
    """Share of items that a branch of a layer leaves out."""
    temperature: float = 0.07
    background: float = 0.1
    """Weight of a clip outside the moment in the loss of f."""
    boundary_weight: float = 10.0
    giou_weight: float = 1.0
    foreground_weight: float = 10.0
    intra_weight: float = 0.05
    inter_weight: float = 0.01
    clip_centre: float = 0.5
    """Position of a clip's t_i, in clips from its start; published weights for clips of two seconds have 1."""
    first_encoder_dim: int = 0
    """See `normalise_encoders`."""


class ClipHead(nn.Module):
    """Three convolutions of three clips with ReLU between; [N, L, D] and [N, L] → [N, L, `outputs`]."""

    def __init__(self, hidden: int, outputs: int):
        super().__init__()
        self.layers = Layers(nn.Conv1d(hidden, size, 3, padding=1) for size in (hidden, hidden, outputs))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        first, *others = self.layers
        x = first(zero_pads(x, mask).transpose(1, 2))
        for layer in others:
            x = layer(F.relu(x).masked_fill(~mask.unsqueeze(1), 0.0))
        return x.transpose(1, 2)


def projection(size: int, hidden: int, dropout: float) -> nn.Sequential:
    """FC(ReLU(FC(·))) of the head of this file; [..., size] → [..., hidden]."""
    return nn.Sequential(InputProjection(size, hidden, dropout), InputProjection(hidden, hidden, dropout, relu=False))


def normalise_encoders(video: Tensor, first: int) -> Tensor:
    """Clips whose first `first` features, of one encoder, and the others, of another, are unit vectors; [..., F].

    As the authors read them: SlowFast's 2304, then CLIP's. With 0, features are unchanged.
    """
    if not first:
        return video
    return torch.cat([unit(video[..., :first]), unit(video[..., first:])], dim=-1).to(video.dtype)


def with_times(video: Tensor, mask: Tensor) -> Tensor:
    """Clips with their start and end as shares of the video, zeros at pads; [N, L, F] and [N, L] → [N, L, F + 2]."""
    at = torch.arange(mask.shape[1], device=mask.device, dtype=video.dtype)
    times = torch.stack([at, at + 1], dim=1) / mask.sum(dim=1)[:, None, None]
    return zero_pads(torch.cat([video, times.to(video.dtype)], dim=2), mask)


def inside_moment(span: Tensor, clips: int) -> Tensor:
    """Mask of clips in the moment; first and last clip [N, 2] → [N, clips] bool."""
    at = torch.arange(clips, device=span.device)
    return (at >= span[:, :1]) & (at <= span[:, 1:])


@register("univtg")
class UniVTG(RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`; a window per clip."""

    config: UniVTGConfig
    Config = UniVTGConfig
    recipe = Recipe(
        optimiser="adamw",
        learning_rate=1e-4,
        batch=32,
        epochs=200,
        patience=200,
        weight_decay=1e-4,
        warmup=0.05,
        schedule="linear",
        clip_norm=0.1,
    )
    small: ClassVar[dict[str, int | float]] = {
        "hidden": 64,
        "heads": 4,
        "feed_forward": 128,
        "layers": 2,
        "dropout": 0.1,
    }
    label = staticmethod(inclusive_end)

    def __init__(self, config: UniVTGConfig):
        super().__init__(config)
        hidden = config.hidden
        self.input_txt_proj = projection(config.text_dim, hidden, config.dropout)
        self.input_vid_proj = projection(config.video_dim + 2, hidden, config.dropout)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        nn.init.normal_(self.token_type_embeddings.weight, 0.0, 0.02)
        widths = (hidden, config.heads, config.feed_forward, config.attention_dropout, config.path_dropout)
        layers = Layers(PositionedLayer(*widths) for _ in range(config.layers))
        self.transformer = Parts({"encoder": Parts({"layers": layers})})
        xavier(self.transformer)
        self.span_embed, self.class_embed = ClipHead(hidden, 2), ClipHead(hidden, 1)
        self.weightedpool = nn.Module()
        self.weightedpool.weight = nn.Parameter(torch.empty(hidden, 1))
        xavier(self.weightedpool)

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """Drop the positions of tokens, which the authors build and do not use."""
        state = super().from_official(state)
        return {key: value for key, value in state.items() if not key.startswith("txt_position_embed.")}

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        tokens = self.input_txt_proj(zero_pads(query, mask)) + self.token_type_embeddings.weight[0]
        shares = (tokens @ self.weightedpool.weight).squeeze(2)
        return {"tokens": tokens, "unit": unit(attention_pooling(tokens, shares, mask)), "mask": mask}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        video = normalise_encoders(video, self.config.first_encoder_dim)
        clips = self.input_vid_proj(with_times(video, mask)) + self.token_type_embeddings.weight[1]
        return {"tokens": clips, "unit": unit(clips), "mask": mask}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        return max_over_clips(queries["unit"], videos["unit"], videos["mask"])

    def predict(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Foreground logits [P, L] and windows in shares of the video [P, L, 2], not cut to it, of P pairs."""
        length = mask.shape[1]
        full_mask = torch.cat([mask, token_mask], dim=1)
        x = torch.cat([clips, tokens], dim=1)
        positions = sine_positions(mask, self.config.hidden).to(x.dtype)
        positions = torch.cat([positions, torch.zeros_like(tokens)], dim=1)
        for layer in self.transformer["encoder"]["layers"]:
            x = layer(x, full_mask, positions)
        x = x[:, :length]
        with whole(x.device):  # windows of long videos differ by less than bfloat16 tells apart
            reach = self.span_embed(x.float() if x.dtype == torch.bfloat16 else x, mask).sigmoid()
        centre = (torch.arange(length, device=x.device) + self.config.clip_centre) / mask.sum(dim=1, keepdim=True)
        windows = centre.to(reach.dtype).unsqueeze(2) + reach * reach.new_tensor([-1.0, 1.0])
        return self.class_embed(x, mask).squeeze(2), windows

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        queries = self.encode_queries(batch.query, batch.query_mask)
        videos = self.encode_videos(batch.video, batch.video_mask)
        logits, windows = self.predict(videos["tokens"], videos["mask"], queries["tokens"], queries["mask"])
        inside = inside_moment(batch.span, logits.shape[1])
        count = batch.video_mask.sum(dim=1, keepdim=True)
        moment = (batch.span + batch.span.new_tensor([0, 1])) / count
        boundary, giou = boundary_losses(windows, moment.to(windows.dtype), inside)
        foreground = foreground_loss(logits.float(), inside, batch.video_mask, self.config.background)
        share = torch.rand(len(batch.span), generator=generator).to(batch.span.device)
        drawn = batch.span[:, 0] + (share * (batch.span[:, 1] - batch.span[:, 0] + 1)).long()
        units, mask, temperature = videos["unit"], batch.video_mask, self.config.temperature
        intra = intra_loss((units @ queries["unit"].unsqueeze(2)).squeeze(2), drawn, inside, mask, temperature)
        inter = inter_loss(queries["unit"], units[torch.arange(len(drawn)), drawn], temperature)
        return add_total(
            {
                "boundary": self.config.boundary_weight * boundary,
                "giou": self.config.giou_weight * giou,
                "foreground": self.config.foreground_weight * foreground,
                "intra": self.config.intra_weight * intra,
                "inter": self.config.inter_weight * inter,
            }
        )

    def localise(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Spans:
        """Windows [P, L, 3] of P pairs of clips [P, L, D] and tokens [P, T, D] with their masks; of score 0 at pads."""
        length, words = longest(mask), longest(token_mask)
        real = mask[:, :length]
        logits, windows = self.predict(clips[:, :length], real, tokens[:, :words], token_mask[:, :words])
        windows = windows.clamp(0.0, 1.0) * real.sum(dim=1)[:, None, None]
        windows = zero_pads(torch.cat([windows, logits.sigmoid().to(windows.dtype).unsqueeze(2)], dim=2), real)
        return spans_of_windows(F.pad(windows, (0, 0, 0, mask.shape[1] - length)), mask)

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index)

    def pair_bytes(self) -> int:
        clips = self.config.context_clips
        return 8 * self.config.hidden * (clips + self.config.query_tokens) + 12 * clips**2

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.config.temperature)


def boundary_losses(windows: Tensor, moment: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
    """L_b without its weights: smooth L1 and 1 − GIoU, means over the clips inside their moments.

    `windows` [N, L, 2], `moment` [N, 2], `inside` [N, L]. Smooth L1 adds up both ends.
    """
    moments = moment.unsqueeze(1).expand_as(windows)[inside]
    spans = windows[inside]
    distance = F.smooth_l1_loss(spans, moments, reduction="sum") / len(spans)
    return distance, 1 - generalised_iou(spans, moments).mean()


def foreground_loss(logits: Tensor, inside: Tensor, mask: Tensor, background: float) -> Tensor:
    """L_f without its weight: mean over all real clips of the batch; [N, L] each → scalar."""
    weight = torch.where(inside, 1.0, background) * mask
    losses = F.binary_cross_entropy_with_logits(logits, inside.to(logits.dtype), weight, reduction="sum")
    return losses / mask.sum()


def intra_loss(saliency: Tensor, drawn: Tensor, inside: Tensor, mask: Tensor, temperature: float) -> Tensor:
    """L_s^intra as the code has it: the drawn clip against the clips outside the moment, and against the other items'.

    `saliency` [N, L], `drawn` [N] clip of each moment, `inside` and `mask` [N, L]. The second part, which the paper
    does not print, compares clips of the same place in the batch's videos.
    """
    items = torch.arange(len(drawn), device=drawn.device)
    compared = mask & ~inside
    compared[items, drawn] = True
    scores = (saliency / temperature).masked_fill(~compared, PAD)
    of_clips, of_items = scores.log_softmax(dim=1), scores.log_softmax(dim=0)
    return -(of_clips[items, drawn].mean() + of_items[items, drawn].mean())


def inter_loss(queries: Tensor, clips: Tensor, temperature: float) -> Tensor:
    """L_s^inter, both ways: each query against the other items' drawn clips; unit vectors [N, D] each → scalar."""
    scores = clips @ queries.T / temperature
    target = torch.arange(len(scores), device=scores.device)
    return F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)
