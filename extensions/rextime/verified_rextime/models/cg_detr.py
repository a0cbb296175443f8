"""CG-DETR: correlation-guided query-dependency calibration (Moon et al., arXiv 2311.08835; github.com/wjun0830/CGDETR).

The query's influence on a clip depends on their relation: dummy tokens next to the words absorb the attention of clips
that the query does not describe. FC and types as in univtg.py:

    v = FC(ReLU(FC([video; i/N; (i + 1)/N]))) + type_1,  q = FC(ReLU(FC(query))) + type_0
    d = the first M of two layers of attention over [learned dummies; q]
    two layers of adaptive cross attention: α = softmax over [d; q] of clip · token, of which the words' part alone
        reaches the clip: v ← LN(v + W Σ_t α_t q_t), then feed-forward;  a_i = Σ_t α_it, the mean over heads and layers
    g, the saliency token: the mean clip plus the learned prompt nearest to the clips' differences, weighed by a
    three layers of attention over [g; v]; v ← v + g
    K windows by the decoder of detr_decoder.py, each with the probability that it shows the moment
    s_i = (W_1 v_i) · (W_2 g) / √D

Losses, by the names of the authors' code, each with its weight in the config
- span, giou, label: L1 of centre and width and 1 − GIoU of the window that matches the moment best, and cross entropy
  of all K, background weighing `background`; after every layer of the decoder. With one moment per query, the Hungarian
  matching is the window of least cost: the same three terms, with the probability for the cross entropy.
- saliency, of s: hinge of two clips inside and two outside, contrast of the clips inside with the others, also under
  the next item's query, and softplus(s) under that query
- attention, of a: the same, with −log(1 − a) for the softplus, and the binary cross entropy of a
- align: moment tokens (attention over [learned token; clips of the moment], and of the others) with sentence tokens (of
  the words, and of the dummies), as cosines, and the moment token's product with each clip
- distill: KL divergence of α from the softmax of the products of clips and tokens after align's attention
- ortho: mean |cosine| between the dummies, and between the prompts

A video is ranked by the largest cosine of a clip's token (that of `align`, over the one clip) with the sentence's, and
its windows in VCMR by exp(that / `temperature`) · probability. This is ours: the paper looks for moments in a given
video.

Differences from the official code
- The moment is known in whole clips, those that it touches, and all of them are equally salient; QVHighlights grades.
- Means of losses run over real clips and tokens, officially over pads as well; so do those over items, officially apart
  for items whose neighbour has another video and for those whose has not.
- AdamW is that of the other models: its ε is 1e-6, and it does not decay biases.
- NMS is the data set's; the official post-processing rounds windows to whole clips of at least 2 seconds.
- Unchanged: the dummies' contrast in `align` draws item 0's moment to dummy 1 and every other to dummy 0.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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
from verified.benchmark.vcmr.layers import longest, zero_pads
from verified.benchmark.vcmr.query_video import localise_in_chunks
from verified.benchmark.vcmr.registry import register
from verified.benchmark.vcmr.scoring import PAD, unit
from verified.nn.layers import Dropout, Layers, Parts, whole
from verified_rextime.detr import (
    BareAttention,
    Mlp,
    PositionedLayer,
    WindowDecoder,
    drop_paths,
    generalised_iou,
    inverse_sigmoid,
    sine_positions,
    xavier,
)
from verified_rextime.models.univtg import inside_moment, normalise_encoders, projection, with_times

CONTRAST_TEMPERATURE = 0.5
GRADES = 12
"""Saliency grades of QVHighlights; their number divides the contrast, which has one term for each."""
NEAR_ONE = 1 - 1e-6
"""Upper bound of an attention share p in log(1 − p)."""


@dataclass(frozen=True, kw_only=True)
class CGDETRConfig(ModelConfig):
    """Widths and loss weights; the defaults are those of the authors' script for QVHighlights."""

    hidden: int = 256
    heads: int = 8
    feed_forward: int = 1024
    encoder_layers: int = 3
    decoder_layers: int = 3
    cross_layers: int = 2
    dummy_layers: int = 2
    moment_layers: int = 1
    sentence_layers: int = 1
    windows: int = 10
    """K."""
    dummies: int = 45
    """M."""
    prompts: int = 10
    chosen_prompts: int = 1
    dropout: float = 0.5
    """Dropout of the projections of clips and tokens."""
    inner_dropout: float = 0.1
    """Dropout of the layers."""
    temperature: float = 0.07
    """Temperature of a video's score in search."""
    background: float = 0.1
    margin: float = 0.2
    span_weight: float = 10.0
    giou_weight: float = 1.0
    label_weight: float = 4.0
    saliency_weight: float = 1.0
    attention_weight: float = 1.0
    align_weight: float = 1.0
    distill_weight: float = 1.0
    ortho_weight: float = 1.0
    first_encoder_dim: int = 0
    """See `univtg.normalise_encoders`."""


class Calibrated(NamedTuple):
    """P pairs after the encoder."""

    clips: Tensor
    """[P, L, D]."""
    saliency: Tensor
    """[P, L] s."""
    shares: Tensor
    """[P, L, M + T] α, the mean over heads and layers."""


class AdaptiveCrossLayer(nn.Module):
    """Clips attend to dummies and words, and take values from the words alone; post-norm."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, dropout: float):
        super().__init__()
        self.self_attn = BareAttention(hidden, heads, dropout)
        self.linear1, self.linear2 = nn.Linear(hidden, feed_forward), nn.Linear(feed_forward, hidden)
        self.activation, self.dropout = nn.PReLU(), Dropout(dropout)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.path_dropout = dropout

    def forward(
        self, clips: Tensor, positions: Tensor, tokens: Tensor, token_positions: Tensor, mask: Tensor, dummies: int
    ) -> tuple[Tensor, Tensor]:
        """[N, L, D] twice, tokens, the first of them dummies, [N, S, D] twice, [N, S] → [N, L, D] and α [N, L, S]."""
        shares = self.self_attn.shares(clips + positions, tokens + token_positions, mask)
        attention = self.self_attn.combine(shares[..., dummies:], tokens[:, dummies:])
        return self.change(clips, attention), shares.mean(dim=1)

    def change(self, clips: Tensor, attention: Tensor) -> Tensor:
        """Feed-forward part after the attention; twice [N, L, D] → [N, L, D]."""
        x = self.norm1(clips + drop_paths(attention, self.path_dropout, self.training))
        changed = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.norm2(x + drop_paths(changed, self.path_dropout, self.training))

    def without_tokens(self, clips: Tensor) -> Tensor:
        """The layer without tokens to attend to, as the saliency token passes it; [N, 1, D] → [N, 1, D]."""
        return self.change(clips, self.self_attn.out_proj(torch.zeros_like(clips)))


@register("cg_detr")
class CGDETR(RetrievalModel):
    """See the head of this file. Shapes as in contract.py, D = `hidden`, M = `dummies`, K = `windows`."""

    config: CGDETRConfig
    Config = CGDETRConfig
    recipe = Recipe(
        optimiser="adamw",
        learning_rate=1e-4,
        batch=32,
        epochs=200,
        patience=200,
        weight_decay=1e-4,
        clip_norm=0.1,
    )
    small: ClassVar[dict[str, int | float]] = {
        "hidden": 64,
        "heads": 4,
        "feed_forward": 128,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "cross_layers": 1,
        "dummy_layers": 1,
        "windows": 5,
        "dummies": 6,
        "prompts": 4,
        "dropout": 0.1,
    }
    label = staticmethod(inclusive_end)

    def __init__(self, config: CGDETRConfig):
        super().__init__(config)
        hidden = config.hidden
        widths = (hidden, config.heads, config.feed_forward, config.inner_dropout)
        self.input_txt_proj = projection(config.text_dim, hidden, config.dropout)
        self.input_vid_proj = projection(config.video_dim + 2, hidden, config.dropout)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        nn.init.normal_(self.token_type_embeddings.weight, 0.0, 0.02)
        self.txtproj_encoder = self._encoder(config.dummy_layers)
        self.scls_encoder = self._encoder(config.sentence_layers)
        cross = Parts({"layers": Layers(AdaptiveCrossLayer(*widths) for _ in range(config.cross_layers))})
        self.transformer = Parts(
            {
                "mcls_encoder": self._encoder(config.moment_layers),
                "t2v_encoder": cross,
                "encoder": self._encoder(config.encoder_layers),
                "decoder": WindowDecoder(config.decoder_layers, *widths),
            }
        )
        xavier(self.transformer)
        self.dummy_rep_token, self.dummy_rep_pos = (nn.Parameter(torch.randn(config.dummies, hidden)) for _ in range(2))
        self.global_rep_token = nn.Parameter(torch.randn(config.prompts, hidden))
        self.global_rep_pos = nn.Parameter(torch.randn(1, hidden))
        self.moment_rep_token, self.moment_rep_pos = (nn.Parameter(torch.randn(hidden)) for _ in range(2))
        self.sent_rep_token, self.sent_rep_pos = (nn.Parameter(torch.randn(hidden)) for _ in range(2))
        self.query_embed = nn.Embedding(config.windows, 2)
        self.span_embed, self.class_embed = Mlp(hidden, hidden, 2, 3), nn.Linear(hidden, 2)
        self.saliency_proj1, self.saliency_proj2 = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)

    def _encoder(self, layers: int) -> Parts:
        c = self.config
        widths = (c.hidden, c.heads, c.feed_forward, c.inner_dropout, c.inner_dropout, c.inner_dropout)
        return Parts({"layers": Layers(PositionedLayer(*widths, nn.PReLU()) for _ in range(layers))})

    @classmethod
    def from_official(cls, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """Drop the positions and the second projection of tokens, which the authors build and do not use."""
        state = super().from_official(state)
        return {key: x for key, x in state.items() if not key.startswith(("txt_position_embed.", "txt_proj_linear."))}

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        """Dummies, which know the query, and words [Q, M + T, D], and the sentence's unit vector [Q, D]."""
        count = self.config.dummies
        words = self.input_txt_proj(zero_pads(query, mask)) + self.token_type_embeddings.weight[0]
        full_mask = F.pad(mask, (count, 0), value=True)
        x = torch.cat([self.dummy_rep_token.expand(len(words), -1, -1), words], dim=1)
        positions = self.token_positions(x)
        for layer in self.txtproj_encoder["layers"]:
            x = layer(x, full_mask, positions)
        sentence, _ = self.sentence(words, mask)
        return {"tokens": torch.cat([x[:, :count], words], dim=1), "unit": unit(sentence), "mask": full_mask}

    def token_positions(self, tokens: Tensor) -> Tensor:
        """Positions of the dummies, zeros for words; [N, M + T, D] → [N, M + T, D]."""
        dummies = self.dummy_rep_pos.expand(len(tokens), -1, -1)
        return torch.cat([dummies.to(tokens.dtype), torch.zeros_like(tokens[:, self.config.dummies :])], dim=1)

    def sentence(self, words: Tensor, mask: Tensor, positions: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The token of a sentence [N, D], and its words [N, T, D]."""
        positions = torch.zeros_like(words) if positions is None else positions
        return _with_token(self.scls_encoder, self.sent_rep_token, self.sent_rep_pos, words, mask, positions)

    def moment(self, clips: Tensor, mask: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """The token of the clips in `mask` [N, D], and the clips [N, L, D]."""
        encoder = self.transformer["mcls_encoder"]
        return _with_token(encoder, self.moment_rep_token, self.moment_rep_pos, clips, mask, positions)

    def positions(self, clips: Tensor, mask: Tensor) -> Tensor:
        """Positions of clips in their video, [N, L, D]."""
        return sine_positions(mask, self.config.hidden).to(clips.dtype)

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        """Clips, and the unit vectors of the tokens of each clip alone, [V, L, D] each."""
        video = normalise_encoders(video, self.config.first_encoder_dim)
        clips = self.input_vid_proj(with_times(video, mask)) + self.token_type_embeddings.weight[1]
        positions = self.positions(clips, mask)
        alone = clips.flatten(0, 1).unsqueeze(1), mask.flatten().unsqueeze(1), positions.flatten(0, 1).unsqueeze(1)
        tokens, _ = self.moment(*alone)
        return {"tokens": clips, "unit": unit(tokens).view(*mask.shape, -1), "mask": mask}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        with whole(videos["mask"].device):
            scores = torch.einsum("qd,vld->qvl", queries["unit"], videos["unit"])
        return scores.masked_fill(~videos["mask"], PAD).amax(dim=2)

    def calibrate(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Calibrated:
        """Fuse projected clips [P, L, D] and tokens [P, M + T, D] of pairs, with their masks."""
        count, positions = self.config.dummies, self.positions(clips, mask)
        layers = list(self.transformer["t2v_encoder"]["layers"])
        x, of_layers = clips, []
        for layer in layers:
            x, share = layer(x, positions, tokens, self.token_positions(tokens), token_mask, count)
            of_layers.append(share)
        shares = torch.stack(of_layers).mean(dim=0)
        token = self.saliency_token(clips, mask, shares[..., count:].sum(dim=2).detach()).unsqueeze(1)
        for layer in layers:
            token = layer.without_tokens(token)
        full_mask = F.pad(mask, (1, 0), value=True)
        positions = torch.cat([self.global_rep_pos.to(x.dtype).expand(len(x), 1, -1), positions], dim=1)
        x = torch.cat([token, x], dim=1)
        for layer in self.transformer["encoder"]["layers"]:
            x = layer(x, full_mask, positions)
        summary, local = x[:, :1], x[:, 1:] + x[:, :1]
        saliency = (self.saliency_proj1(local) * self.saliency_proj2(summary)).sum(dim=2) / self.config.hidden**0.5
        return Calibrated(local, saliency, shares)

    def saliency_token(self, clips: Tensor, mask: Tensor, attention: Tensor) -> Tensor:
        """The mean clip and the prompts most like the clips' differences from it; `attention` [P, L] a → [P, D]."""
        lengths = mask.sum(dim=1, keepdim=True)
        mean = (zero_pads(clips, mask).sum(dim=1) / lengths).detach()
        cosines = F.normalize(clips - mean.unsqueeze(1), dim=2) @ F.normalize(self.global_rep_token, dim=1).T
        weight = attention.masked_fill(~mask, 0.0)
        weight = weight / weight.sum(dim=1, keepdim=True).clamp(min=1e-12)
        likely = (cosines.softmax(dim=2) * weight.unsqueeze(2)).sum(dim=1)
        chosen = likely.argsort(dim=1, descending=True, stable=True)[:, : self.config.chosen_prompts]
        return (likely.gather(1, chosen).unsqueeze(2) * self.global_rep_token[chosen]).sum(dim=1) + mean

    def decode(self, clips: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of moment and background, and centre and width as shares of the video, [layers, P, K, 2] each."""
        contents, references = self.transformer["decoder"](
            clips, mask, self.positions(clips, mask), self.query_embed.weight
        )
        return self.class_embed(contents), (self.span_embed(contents) + inverse_sigmoid(references)).sigmoid()

    def losses(self, batch: Batch, *, epoch: int, step: int, generator: torch.Generator) -> dict[str, Tensor]:
        c, mask, clips_of = self.config, batch.video_mask, batch.video
        queries, videos = self.encode_queries(batch.query, batch.query_mask), self.encode_videos(clips_of, mask)
        clips, tokens, token_mask = videos["tokens"], queries["tokens"], queries["mask"]
        inside = inside_moment(batch.span, mask.shape[1])
        calibration = self.calibrate(clips, mask, tokens, token_mask)
        following = torch.arange(len(clips), device=clips.device).roll(-1)
        same = _same_video(zero_pads(clips_of, mask))
        real = ~same[torch.arange(len(clips), device=clips.device), following]
        wrong = None
        if bool(real.any()):
            wrong = self.calibrate(clips, mask, tokens[following], token_mask[following])
        count = mask.sum(dim=1, keepdim=True)
        moment = (batch.span + batch.span.new_tensor([0, 1])) / count
        logits, spans = (output.float() for output in self.decode(calibration.clips, mask))
        drawn = draw_clips(inside, mask, generator)
        shares, wrong_shares = self.clip_attention(calibration), None if wrong is None else self.clip_attention(wrong)
        detection = [detection_losses(*pair, moment.float(), c) for pair in zip(logits, spans)]
        span, giou, label = (torch.stack(terms).sum() for terms in zip(*detection))
        wrong_saliency = None if wrong is None else wrong.saliency.float()
        saliency = ranking_loss(calibration.saliency.float(), wrong_saliency, inside, mask, real, drawn, c.margin)
        if wrong_saliency is not None:
            saliency = saliency + over_items(F.softplus(wrong_saliency), mask, real)
        attention = ranking_loss(shares, wrong_shares, inside, mask, real, drawn, c.margin)
        attention = attention + binary_loss(shares, inside, mask)
        if wrong_shares is not None:
            attention = attention + over_items(-(1 - wrong_shares).log(), mask, real)
        align, distill = self.alignment(clips, mask, inside, tokens, token_mask, calibration.shares)
        return add_total(
            {
                "span": c.span_weight * span,
                "giou": c.giou_weight * giou,
                "label": c.label_weight * label,
                "saliency": c.saliency_weight * saliency,
                "attention": c.attention_weight * attention,
                "align": c.align_weight * align,
                "distill": c.distill_weight * distill,
                "ortho": c.ortho_weight * (likeness(tokens[:, : c.dummies]) + likeness(self.global_rep_token[None])),
            }
        )

    def clip_attention(self, calibration: Calibrated) -> Tensor:
        """a [P, L]: attention of each clip to the words, clamped below 1 for logarithms."""
        return calibration.shares[..., self.config.dummies :].sum(dim=2).float().clamp(max=NEAR_ONE)

    def alignment(
        self, clips: Tensor, mask: Tensor, inside: Tensor, tokens: Tensor, token_mask: Tensor, shares: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The losses align and distill; shapes as in `calibrate`, `inside` [P, L]."""
        count, positions = self.config.dummies, self.positions(clips, mask)
        moment, of_moment = self.moment(clips, mask & inside, positions)
        other, of_other = self.moment(clips, mask & ~inside, positions)
        sentence, words = self.sentence(tokens[:, count:], token_mask[:, count:])
        nothing, dummies = self.sentence(
            tokens[:, :count], token_mask[:, :count], self.token_positions(tokens)[:, :count]
        )
        moments, others, sentences, nothings = (unit(x) for x in (moment, other, sentence, nothing))
        target = torch.arange(len(moments), device=moments.device)
        align = F.cross_entropy(torch.cat([moments @ sentences.T, others @ sentences.T], dim=1), target)
        first = (target == 0).long()  # see the differences
        align = align + F.cross_entropy(torch.cat([moments @ nothings.T, others @ nothings.T], dim=1), first)
        frames = torch.where(inside.unsqueeze(2), of_moment, of_other)
        products = (frames @ moment.unsqueeze(2)).squeeze(2).float()
        of_clips = F.binary_cross_entropy_with_logits(products, inside.float(), mask.float(), reduction="sum")
        goal = (of_moment @ torch.cat([dummies, words], dim=1).transpose(1, 2)).float()
        goal = goal.masked_fill(~token_mask.unsqueeze(1), PAD).log_softmax(dim=2).detach()
        divergence = goal.exp() * (goal - (shares.float() + 1e-6).log())
        divergence = divergence.masked_fill(~token_mask.unsqueeze(1), 0.0).sum(dim=2)
        divergence = divergence / token_mask.sum(dim=1, keepdim=True)
        return align + of_clips / mask.sum(), divergence[inside].mean()

    def localise(self, clips: Tensor, mask: Tensor, tokens: Tensor, token_mask: Tensor) -> Spans:
        """Windows [P, K, 3] of P pairs of clips [P, L, D] and tokens [P, M + T, D] with their masks."""
        length, words = longest(mask), longest(token_mask)
        real = mask[:, :length]
        calibration = self.calibrate(clips[:, :length], real, tokens[:, :words], token_mask[:, :words])
        logits, spans = (output[-1] for output in self.decode(calibration.clips, real))
        windows = ends_of(spans).clamp(0.0, 1.0) * real.sum(dim=1)[:, None, None]
        likely = logits.softmax(dim=2)[..., :1].to(windows.dtype)
        return spans_of_windows(torch.cat([windows, likely], dim=2), mask)

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        return localise_in_chunks(self.localise, queries, videos, query_index, video_index)

    def pair_bytes(self) -> int:
        c = self.config
        tokens = c.query_tokens + c.dummies
        return 8 * c.hidden * (c.context_clips + tokens) + 8 * c.heads * c.context_clips * (tokens + c.context_clips)

    def video_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores / self.config.temperature)


def _with_token(
    encoder: Parts, token: Tensor, place: Tensor, x: Tensor, mask: Tensor, positions: Tensor
) -> tuple[Tensor, Tensor]:
    """A learned token after attention over itself and the positions in `mask` [N, S], and the others [N, S, D]."""
    x = torch.cat([token.to(x.dtype).expand(len(x), 1, -1), x], dim=1)
    positions = torch.cat([place.to(x.dtype).expand(len(x), 1, -1), positions], dim=1)
    full_mask = F.pad(mask, (1, 0), value=True)
    for layer in encoder["layers"]:
        x = layer(x, full_mask, positions)
    return x[:, 0], x[:, 1:]


def ends_of(spans: Tensor) -> Tensor:
    """Start and end of centre and width, [..., 2] → [..., 2]."""
    return torch.stack([spans[..., 0] - spans[..., 1] / 2, spans[..., 0] + spans[..., 1] / 2], dim=-1)


def detection_losses(logits: Tensor, spans: Tensor, moment: Tensor, config: CGDETRConfig) -> tuple[Tensor, ...]:
    """span, giou and label without weights, after one layer of the decoder.

    `logits` [N, K, 2] of moment and background, `spans` [N, K, 2] centre and width, `moment` [N, 2] start and end.
    """
    target = torch.stack([moment.mean(dim=1), moment[:, 1] - moment[:, 0]], dim=1).unsqueeze(1)
    distance = (spans - target).abs()
    overlap = generalised_iou(ends_of(spans), moment.unsqueeze(1))
    likely = logits.softmax(dim=2)[..., 0]
    cost = config.span_weight * distance.sum(2) - config.giou_weight * overlap - config.label_weight * likely
    best = cost.detach().argmin(dim=1)
    items = torch.arange(len(best), device=best.device)
    classes = torch.ones_like(likely, dtype=torch.int64)
    classes[items, best] = 0
    weight = logits.new_tensor([1.0, config.background])
    label = F.cross_entropy(logits.transpose(1, 2), classes, weight, reduction="none").mean()
    return distance[items, best].mean(), 1 - overlap[items, best].mean(), label


def draw_clips(inside: Tensor, mask: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two clips of each moment and two outside, [N, 2] each.

    Of a moment of one clip, it twice; where fewer than two are outside, those inside again.
    """
    keys = torch.rand(inside.shape, generator=generator).to(inside.device)
    chosen = []
    for allowed in (inside, mask & ~inside):
        if inside.shape[1] == 1:
            chosen.append(torch.zeros(len(inside), 2, dtype=torch.int64, device=inside.device))
            continue
        two = keys.masked_fill(~allowed, -1.0).topk(2, dim=1).indices
        several = allowed.sum(dim=1, keepdim=True) > 1
        chosen.append(torch.where(several, two, two[:, :1] if not chosen else chosen[0]))
    return chosen[0], chosen[1]


def ranking_loss(
    scores: Tensor,
    wrong: Tensor | None,
    inside: Tensor,
    mask: Tensor,
    real: Tensor,
    drawn: tuple[Tensor, Tensor],
    margin: float,
) -> Tensor:
    """Hinge of the drawn clips, and contrast of the moment with all other clips of the item; → scalar.

    `scores` [N, L], `wrong` the same under another query, which counts for `real` [N] items; `drawn` twice [N, 2].
    """
    positive, negative = (scores.gather(1, clips) for clips in drawn)
    hinge = 2 * (margin + negative - positive).clamp(min=0).mean()
    logits = scores.masked_fill(~mask, PAD)
    if wrong is not None:
        logits = torch.cat([logits, wrong.masked_fill(~(mask & real.unsqueeze(1)), PAD)], dim=1)
    likely = (logits / CONTRAST_TEMPERATURE).log_softmax(dim=1)[:, : scores.shape[1]]
    contrast = likely.masked_fill(~inside, 0.0).sum(dim=1) / inside.sum(dim=1)
    return hinge - contrast.mean() / GRADES


def over_items(losses: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    """Mean over the `real` items of the sum over their clips; [N, L], [N, L], [N] → scalar."""
    return (losses.masked_fill(~mask, 0.0).sum(dim=1) * real).sum() / real.sum()


def binary_loss(shares: Tensor, inside: Tensor, mask: Tensor) -> Tensor:
    """Binary cross entropy of shares from 0 to 1, the mean over real clips; [N, L] each → scalar."""
    right = torch.where(inside, shares, 1 - shares).clamp(min=1 - NEAR_ONE)
    return -right.log()[mask].mean()


def likeness(tokens: Tensor) -> Tensor:
    """Mean |cosine| of each of [N, S, D] with the others, without gradient through them; with itself it is 0."""
    vectors = F.normalize(tokens, dim=2)
    cosines = vectors @ vectors.transpose(1, 2).detach()
    own = torch.eye(tokens.shape[1], dtype=torch.bool, device=tokens.device)
    return cosines.abs().masked_fill(own, 0.0).mean()


def _same_video(video: Tensor) -> Tensor:
    """Mask of pairs in a batch with the same video; features without pads [N, L, F] → [N, N] bool."""
    sums = video.sum(dim=1)
    return (sums[:, None] == sums).all(dim=2)
