"""Tiny models with random weights, saved as folders that load like those of the hub."""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

MISTRAL_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}[INST] {{ m['content'] }} [/INST]"
    "{% else %}{{ m['content'] }}{{ eos_token }}{% endif %}{% endfor %}"
)
LLAVA_TEMPLATE = (
    "{% for m in messages %}[INST] {% for c in m['content'] %}{% if c['type'] == 'image' %}<image>\n"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %} [/INST]{% endfor %}"
)
QWEN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}{% if c['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif c['type'] == 'video' %}"
    "<|vision_start|><|video_pad|><|vision_end|>{% else %}{{ c['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
)
QWEN_TEXT_TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "<|im_start|>assistant\n"
)
"""Of Qwen2.5-VL's tokenizer, which knows text alone: pictures and videos stand in its processor's template."""


def _tokenizer(special: list[str]):
    """A tokenizer of single bytes and the given control tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(alphabet)}, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokens.add_special_tokens(["<s>", "</s>", *special])
    return PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", eos_token="</s>", pad_token="</s>")


TEXT = {
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "bos_token_id": 256,
    "eos_token_id": 257,
    "pad_token_id": 257,
}


def mistral(folder: Path, context: int = 4096) -> str:
    """MistralForCausalLM, as Mistral-7B-Instruct-v0.2."""
    tokenizer = _tokenizer(["[INST]", "[/INST]"])
    tokenizer.chat_template = MISTRAL_TEMPLATE
    torch.manual_seed(0)
    config = transformers.MistralConfig(vocab_size=len(tokenizer), max_position_embeddings=context, **TEXT)
    transformers.MistralForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def resnet(folder: Path) -> Path:
    """ResNetModel with bottlenecks, as resnet-152, of 32 channels."""
    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], layer_type="bottleneck"
    )
    transformers.ResNetModel(config).save_pretrained(folder)
    return folder


def roberta(folder: Path, places: int = 512) -> Path:
    """RobertaModel of twelve layers of width 48, as roberta-base, with a tokenizer of single bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(alphabet)}, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "cls_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokens, model_max_length=places, **names).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 48, "num_hidden_layers": 12, "num_attention_heads": 4, "intermediate_size": 96}
    sizes |= {"vocab_size": len(alphabet), "max_position_embeddings": places + 2, "type_vocab_size": 1}
    transformers.RobertaModel(transformers.RobertaConfig(**sizes, pad_token_id=1)).save_pretrained(folder)
    return folder


def clip(folder: Path) -> Path:
    """CLIPModel of pictures of 32 pixels and words in small letters, twelve joint numbers."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(vocabulary)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=20)
    tokenizer.save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": len(vocabulary) - 2, "eos_token_id": len(vocabulary) - 1, "pad_token_id": 0}
    torch.manual_seed(0)
    config = transformers.CLIPConfig(
        text_config={**small, **ends, "vocab_size": len(vocabulary), "max_position_embeddings": 20},
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=12,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    return folder


def siglip(folder: Path) -> Path:
    """SiglipModel of pictures of 32 pixels and texts of 16 bytes, sixteen joint numbers."""
    tokenizer = _tokenizer([])
    tokenizer.save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = transformers.SiglipConfig(
        text_config={**small, "vocab_size": len(tokenizer), "max_position_embeddings": 16, "projection_size": 16},
        vision_config={**small, "image_size": 32, "patch_size": 16},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    return folder


def llava_next(folder: Path) -> str:
    """LlavaNextForConditionalGeneration with CLIP eyes and a Mistral, as LLaVA-1.6-Mistral-7B."""
    tokenizer = _tokenizer(["<image>", "[INST]", "[/INST]"])
    torch.manual_seed(0)
    vision = transformers.CLIPVisionConfig(
        hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )
    points = [[28, 56], [56, 28], [56, 56]]
    config = transformers.LlavaNextConfig(
        vision_config=vision,
        text_config=transformers.MistralConfig(vocab_size=len(tokenizer), max_position_embeddings=4096, **TEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=points,
        vision_feature_layer=-1,
    )
    transformers.LlavaNextForConditionalGeneration(config).save_pretrained(folder)
    _name_as_published(folder / "model.safetensors")
    images = transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}, image_grid_pinpoints=points
    )
    processor = transformers.LlavaNextProcessor(
        images, tokenizer, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    processor.chat_template = LLAVA_TEMPLATE
    processor.save_pretrained(folder)
    return str(folder)


def _name_as_published(file: Path) -> None:
    """Give the weights of the eyes the longer names that LLaVA-1.6 was published with, which vLLM expects."""
    eyes, published = "vision_tower.", "vision_tower.vision_model."
    weights = load_file(file)
    assert any(eyes in name for name in weights)
    renamed = {n if published in n else n.replace(eyes, published): weight for n, weight in weights.items()}
    save_file(renamed, file, {"format": "pt"})


def qwen_vl(folder: Path) -> str:
    """Qwen2_5_VLForConditionalGeneration, as Qwen2.5-VL-7B-Instruct."""
    control = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    tokenizer = _tokenizer(control)
    number = tokenizer.convert_tokens_to_ids
    torch.manual_seed(0)
    eyes = {"depth": 2, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "out_hidden_size": 64}
    eyes |= {"patch_size": 14, "fullatt_block_indexes": [1], "window_size": 56}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [4, 6, 6]}
    config = transformers.Qwen2_5_VLConfig(
        vision_config=eyes,
        text_config={**TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 8192, "rope_scaling": rope},
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    transformers.Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=56 * 56).save_pretrained(folder)
    images = json.loads((folder / "preprocessor_config.json").read_text())
    images |= {"processor_class": "Qwen2_5_VLProcessor", "image_processor_type": "Qwen2VLImageProcessor"}
    (folder / "preprocessor_config.json").write_text(json.dumps(images))
    # Two templates in two files, as they were published: the processor's, and that of the tokenizer.
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": QWEN_TEMPLATE}))
    tokens = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(tokens | {"chat_template": QWEN_TEXT_TEMPLATE}))
    return str(folder)
