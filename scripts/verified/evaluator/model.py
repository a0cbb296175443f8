"""The noise evaluator: UMT's arrangement of a video encoder, a text encoder, fusion layers and two heads (section 3.3).

Captions become token ids as UMT does it: cleaned, WordPiece of BERT-uncased, ``[CLS]`` in front and no ``[SEP]``. The
text encoder and the fusion layers are BERT's layers, the last few with cross-attention to the video.

Differences from the official code, each covered by a test:
- keys and values of the video are computed once per video instead of once per pair (same numbers);
- attention is fused, padded words are masked with minus infinity instead of -10000 (same numbers in float32);
- similarities and the match head are computed in float32 also under autocast, so that scores of candidates do not tie;
- no CLIP teacher, no masked language modelling head: they have weight 0 in fine-tuning.
"""

import re

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, normalize, scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from verified.evaluator.settings import Architecture
from verified.evaluator.vision import VideoEncoder
from verified.nn.bert import BertAttention, BertEmbeddings, BertLayer, BertSize, key_mask
from verified.nn.layers import Layers, whole
from verified.nn.mini_lm import CLS, load_tokeniser

MAX_TOKENS = 64
"""Longest caption in tokens, [CLS] included (UMT's DiDeMo setting; the paper states no value)."""

DELETED = str.maketrans("-/", "  ", ",.'!?\"()*#:;~")


def clean(caption: str) -> str:
    """Lower-case, punctuation deleted, ``-`` and ``/`` as spaces, ``<person>`` as ``person``, single spaces."""
    text = caption.lower().translate(DELETED).replace("<person>", "person")
    return re.sub(r"\s+", " ", text).strip()


def encode(captions: list[str]) -> tuple[Tensor, Tensor, int]:
    """Token ids and mask [N, L] (L: the longest caption given, at most MAX_TOKENS), and how many captions were cut.

    Padding is id 0 with mask 0.
    """
    encoded = load_tokeniser().encode_batch([clean(caption) for caption in captions], add_special_tokens=False)
    whole = [torch.tensor([CLS, *encoding.ids]) for encoding in encoded]
    rows = [row[:MAX_TOKENS] for row in whole]
    ids = pad_sequence(rows, batch_first=True)
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return ids, mask, sum(len(row) > MAX_TOKENS for row in whole)


def layer_size(size: Architecture) -> BertSize:
    """BERT-uncased settings at this size."""
    return BertSize(
        width=size.text_width,
        layers=size.text_layers,
        heads=size.text_heads,
        feed_forward=size.text_feedforward,
        vocabulary=size.vocabulary,
        positions=size.text_positions,
        dropout=size.text_dropout,
    )


class TextEncoder(nn.Module):
    """Token ids to hidden states by self-attention alone; position 0 represents the caption."""

    def __init__(self, size: Architecture):
        super().__init__()
        bert = layer_size(size)
        self.embeddings = BertEmbeddings(bert)
        self.layers = nn.ModuleList(BertLayer(bert) for _ in range(bert.layers))
        self.checkpointing = False

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask: [N, L] → states [N, L, width]."""
        states, keys = self.embeddings(ids), key_mask(mask)
        for layer in self.layers:
            if self.checkpointing and self.training:
                states = checkpoint(layer, states, keys, use_reentrant=False)
            else:
                states = layer(states, keys)
        return states


class FusionLayer(BertLayer):
    """A BERT layer with cross-attention between its self-attention and its feed-forward part.

    Keys and values of the video depend on the video alone, so they are computed once (`memory`) and shared by all
    captions; UMT's authors recompute them for every pair, with the same result.
    """

    def __init__(self, size: BertSize, video_width: int, may_read_nothing: bool):
        super().__init__(size)
        self.may_read_nothing = may_read_nothing
        self.crossattention = BertAttention(size)
        if video_width != size.width:
            self.crossattention.self.key = nn.Linear(video_width, size.width)
            self.crossattention.self.value = nn.Linear(video_width, size.width)

    def memory(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Video tokens [V, N, video width] → keys and values [V, heads, N, width / heads]."""
        attention = self.crossattention.self
        key, value = attention.split_heads(attention.key(tokens)), attention.split_heads(attention.value(tokens))
        if self.may_read_nothing:
            key, value = (nn.functional.pad(part, (0, 0, 0, 1)) for part in (key, value))
        return key, value

    def forward(self, states: Tensor, keys: Tensor, memory_key: Tensor, memory_value: Tensor) -> Tensor:
        """states [P, L, width] of P captions, P a multiple of the V videos of the memory: pair p reads video p·V // P.

        Captions of one video are laid end to end as one long query: they do not see each other in cross-attention,
        and the video's keys and values are not copied.
        """
        states = self.attention(states, keys)
        attention = self.crossattention.self
        pairs, length, width = states.shape
        videos = memory_key.shape[0]
        query = attention.query(states).reshape(videos, pairs // videos * length, attention.heads, -1)
        read = scaled_dot_product_attention(
            query.transpose(1, 2), memory_key, memory_value, dropout_p=attention.dropout.p if self.training else 0.0
        )
        read = read.transpose(1, 2).reshape(pairs, length, width)
        return self.feed_forward(self.crossattention.output(read, states))


class FusionEncoder(nn.Module):
    """The last BERT layers, each with cross-attention to the video's tokens."""

    def __init__(self, size: Architecture):
        super().__init__()
        self.layers = Layers(
            FusionLayer(layer_size(size), size.vision_width, size.may_read_nothing) for _ in range(size.fusion_layers)
        )
        self.checkpointing = False

    def memory(self, tokens: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of every layer for videos' tokens [V, N, video width]."""
        return [layer.memory(tokens) for layer in self.layers]

    def forward(self, states: Tensor, mask: Tensor, memory: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Read P captions' states [P, L, width] against V videos' memory; returns position 0: [P, width].

        Pair p reads video p·V // P (so V = P pairs them one to one).
        """
        keys = key_mask(mask)
        for layer, (memory_key, memory_value) in zip(self.layers, memory):
            if self.checkpointing and self.training:
                states = checkpoint(layer, states, keys, memory_key, memory_value, use_reentrant=False)
            else:
                states = layer(states, keys, memory_key, memory_value)
        return states[:, 0]


def select_videos(memory: list[tuple[Tensor, Tensor]], videos: Tensor) -> list[tuple[Tensor, Tensor]]:
    """The memory of the videos at the given indices [pairs], one entry per pair."""
    return [(_rows(key, videos), _rows(value, videos)) for key, value in memory]


def _rows(memory: Tensor, videos: Tensor) -> Tensor:
    """As `torch.index_select` along the first dimension, whose way back takes three times as long on the CPU; plain
    indices would add up in another order each time if there are several threads."""
    return embedding(videos, memory.flatten(1)).unflatten(1, memory.shape[1:])


TEMPERATURE = 0.07
TEMPERATURE_RANGE = (0.001, 0.5)


class NoiseEvaluator(nn.Module):
    """Scores how well a caption fits a clip: a contrastive similarity and a two-way match head."""

    def __init__(self, size: Architecture):
        super().__init__()
        self.size = size
        self.vision = VideoEncoder(size)
        self.text = TextEncoder(size)
        self.fusion = FusionEncoder(size)
        self.video_projection = nn.Linear(size.vision_width, size.embedding)
        self.text_projection = nn.Linear(size.text_width, size.embedding)
        self.match_head = nn.Linear(size.text_width, 2)
        self.temperature = nn.Parameter(torch.tensor(TEMPERATURE))

    def encode_video(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Normalised frames [B, T, 3, H, W] → tokens [B, T·P, width] and a unit vector a frame [B, T, embedding]."""
        tokens, frames = self.vision(pixels)
        return tokens, normalize(self.video_projection(frames), dim=-1)

    def encode_text(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Token ids and mask [N, L] → states [N, L, width] and unit vectors of the captions [N, embedding]."""
        states = self.text(ids, mask)
        return states, normalize(self.text_projection(states[:, 0]), dim=-1)

    def match(self, states: Tensor, mask: Tensor, memory: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Logits [P, 2] of P pairs (column 1: the caption matches); see FusionEncoder.forward for the pairing."""
        read = self.fusion(states, mask, memory)
        with whole(read.device):
            return self.match_head(read.float())

    def use_checkpointing(self, on: bool = True) -> None:
        """Recompute activations of every layer in the backward pass instead of keeping them."""
        for tower in (self.vision, self.text, self.fusion):
            tower.checkpointing = on


def similarity(videos: Tensor, texts: Tensor) -> Tensor:
    """s(v, q) [B, N]: mean over frames of the cosine between unit vectors [B, T, E] and [N, E]; no temperature."""
    with whole(videos.device):
        return torch.einsum("bte,ne->bn", videos.float(), texts.float()) / videos.shape[1]


def confidence(logits: Tensor) -> dict[str, Tensor]:
    """z1, margin z1 − z0 and probability σ(margin) of two-way logits [..., 2]."""
    margin = logits[..., 1] - logits[..., 0]
    return {"z1": logits[..., 1], "margin": margin, "probability": torch.sigmoid(margin)}
