"""Encoders of the transformers library by hub name or folder: image backbones, CLIP and SigLIP.

Backbones such as ResNet-152 (2048-D, supplement B.1) encode frames alone. CLIP and SigLIP put frames and sentences into
one space. SigLIP differs from CLIP in three ways: frames are squeezed into the square, pixels are scaled to [-1, 1],
and a sentence is padded to the model's full length, since the vector is read at the last position, even if it is a pad.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from verified.demo.pretrained import SHIPPED
from verified.errors import InputError
from verified.nn.layers import computing, visible_device
from verified.runtime.project import check_card

CLIP_MEAN, CLIP_DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Mean and deviation of the pixels that CLIP was trained on."""
IMAGENET_MEAN, IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and deviation of ImageNet's pixels, by which such models expect their input scaled."""


class ImageModel:
    """Frames uint8 [N, size, size, 3] → float32 [N, dim]: the pooled output of a transformers image model.

    `name` is a hub name or a local folder. Frames are scaled until their shorter side has `size` pixels and cropped to
    the middle square, as the extractors of the TVR family do. Raises InputError where the model cannot be loaded.
    """

    crop = True

    def __init__(self, name: str, precision: str = "float32"):
        from transformers import AutoConfig, AutoModel

        if Path(name).is_dir():
            check_card(name, SHIPPED)
        try:
            config = AutoConfig.from_pretrained(name)
            if hasattr(config, "text_config"):
                raise ValueError(f"a {config.model_type} model, of pictures and texts, and neither a CLIP nor a SigLIP")
            model = AutoModel.from_pretrained(name, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise InputError(
                f"the image backbone {name!r} cannot be loaded: {error}",
                remedy="give packaged, a hub name such as microsoft/resnet-152, or a folder that holds the model",
            ) from None
        self.size = int(getattr(model.config, "image_size", 224))
        self._precision = precision
        self._device = visible_device()
        self._model = model.eval().to(self._device, memory_format=torch.channels_last)
        scale = torch.tensor([IMAGENET_MEAN, IMAGENET_DEVIATION], device=self._device)[:, :, None, None]
        self._mean, self._deviation = scale * 255
        self.dim = self(np.zeros((1, self.size, self.size, 3), np.uint8)).shape[1]

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).to(self._device, non_blocking=True).permute(0, 3, 1, 2)
        pixels = ((pixels - self._mean) / self._deviation).contiguous(memory_format=torch.channels_last)
        with computing(self._device, self._precision):
            output = self._model(pixels)
        pooled = getattr(output, "pooler_output", None)
        pooled = output.last_hidden_state.mean(1) if pooled is None else pooled.flatten(1)
        return pooled.float().cpu().numpy()


class Clip:
    """Frames uint8 [N, size, size, 3] → raw image features float32 [N, dim]; sentences → token and sentence features.

    `name` is a hub name or a local folder. Frames are scaled until their shorter side has `size` pixels and cropped to
    the middle square. Features are not normalised. Raises InputError where the model cannot be loaded.
    """

    kind, example = "CLIP", "openai/clip-vit-base-patch32"
    crop = True
    together = 1

    def __init__(self, name: str, precision: str = "float32"):
        from transformers import AutoModel, AutoTokenizer

        try:
            self._tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name)
            if not hasattr(model.config, "vision_config"):
                raise ValueError("it sees no pictures")
        except (OSError, ValueError, ImportError) as error:
            raise InputError(
                f"the {self.kind} model {name!r} cannot be loaded: {error}",
                remedy=f"give a hub name such as {self.example}, or a folder that holds the model",
            ) from None
        self._device, self._precision = visible_device(), precision
        self._model: Any = model.eval()
        self._model.to(self._device)
        sizes: Any = model.config
        self.size, self._limit = int(sizes.vision_config.image_size), int(sizes.text_config.max_position_embeddings)
        self.dim = int(getattr(sizes, "projection_dim", sizes.vision_config.hidden_size))
        scale = torch.tensor([CLIP_MEAN, CLIP_DEVIATION], device=self._device)[:, :, None, None]
        self._mean, self._deviation = scale * 255

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).to(self._device, non_blocking=True).permute(0, 3, 1, 2)
        with computing(self._device, self._precision):
            return self._see(pixels).float().cpu().numpy()

    def _see(self, pixels: torch.Tensor) -> torch.Tensor:
        pooled = self._model.vision_model((pixels - self._mean) / self._deviation).pooler_output
        return self._model.visual_projection(pooled)

    @torch.inference_mode()
    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """(tokens [L, dim], sentence [dim]) per text, float32: projected states of all its tokens, start and end
        included, and the projection of the end token's. Text beyond CLIP's 77 tokens is cut off."""
        tokens, output = self.read(texts)
        states = self._model.text_projection(output.last_hidden_state).cpu().numpy()
        whole = self._model.text_projection(output.pooler_output).cpu().numpy()
        lengths = tokens["attention_mask"].sum(dim=1).tolist()
        return [(states[row, :length], whole[row]) for row, length in enumerate(lengths)]

    @torch.inference_mode()
    def read(self, texts: list[str]) -> tuple[Any, Any]:
        """Tokens of texts, and the output of the text model. Text beyond CLIP's 77 tokens is cut off."""
        limit = min(self._tokenizer.model_max_length, self._limit)
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=limit, return_tensors="pt")
        return tokens, self._model.text_model(**tokens.to(self._device))


class SigLip(Clip):
    """The same for a SigLIP; its sentence feature is the model's vector, and text beyond 64 tokens is cut off."""

    kind, example = "SigLIP", "google/siglip-base-patch16-224"
    crop = False

    def _see(self, pixels: torch.Tensor) -> torch.Tensor:
        return self._model.vision_model(pixels / 127.5 - 1).pooler_output

    @torch.inference_mode()
    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """(tokens [L, dim], sentence [dim]) per text, float32: projected states of its tokens with the end, and the
        model's vector."""
        tokens = self._tokenizer(
            texts, padding="max_length", truncation=True, max_length=self._limit, return_tensors="pt"
        )
        ids = tokens["input_ids"].to(self._device)
        output = self._model.text_model(ids)
        states = self._model.text_model.head(output.last_hidden_state).cpu().numpy()
        whole = output.pooler_output.cpu().numpy()
        lengths = (tokens["input_ids"] != self._tokenizer.pad_token_id).sum(dim=1).clamp(min=1).tolist()
        return [(states[row, :length], whole[row]) for row, length in enumerate(lengths)]
