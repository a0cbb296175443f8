"""Tiny models with random weights, of the very classes that the paper's configuration names, under the hub's names."""

from pathlib import Path

import tiny_models
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, ResNetConfig, ResNetModel, RobertaConfig, RobertaModel

WIDTH = 48
"""Of RoBERTa's states; a multiple of the heads that HERO is given."""


def resnet(folder: Path) -> None:
    """ResNetModel with bottlenecks, as resnet-152."""
    torch.manual_seed(0)
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], layer_type="bottleneck")
    ResNetModel(config).save_pretrained(folder)


def roberta(folder: Path) -> None:
    """RobertaModel of twelve narrow layers, as roberta-base, with a tokenizer of single bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(alphabet)}, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "cls_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokens, model_max_length=512, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(alphabet),
        hidden_size=WIDTH,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=514,
        pad_token_id=1,
        type_vocab_size=1,
    )
    RobertaModel(config).save_pretrained(folder)


def write_hub(hub: Path) -> None:
    """A folder that stands in for the hub, with every model of config/layers/models.yaml."""
    tiny_models.mistral(hub / "mistralai" / "Mistral-7B-Instruct-v0.2", context=8192)
    tiny_models.llava_next(hub / "llava-hf" / "llava-v1.6-mistral-7b-hf")
    tiny_models.qwen_vl(hub / "Qwen" / "Qwen2.5-VL-7B-Instruct")
    resnet(hub / "microsoft" / "resnet-152")
    roberta(hub / "roberta-base")
