"""The text encoder and the fusion layers: BERT's layers, the last few with cross-attention to the video."""

from torch import Tensor, nn
from torch.nn.functional import embedding, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from verified.evaluator.architecture import Architecture
from verified.nn.bert import BertAttention, BertEmbeddings, BertLayer, BertSize, key_mask
from verified.nn.layers import Layers


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
            key, value = (nn.functional.pad(one, (0, 0, 0, 1)) for one in (key, value))
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
