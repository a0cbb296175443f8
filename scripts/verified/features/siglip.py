"""SigLIP: frames and sentences in one space, by any SigLIP model of the transformers library.

It differs from CLIP in three ways: frames are squeezed into the square, pixels are scaled to [-1, 1], and a sentence is
padded to the model's full length, since the vector is read at the last position, even if it is a pad.
"""

from typing import Any

import numpy as np
import torch

from verified.errors import InputError
from verified.nn.layers import computing, visible_device


class SigLip:
    """Frames uint8 [N, size, size, 3] → raw image features float32 [N, dim]; sentences → token and sentence features.

    `name` is a hub name or a local folder. Features are not normalised. Raises InputError where the model cannot be
    loaded.
    """

    crop = False
    together = 1

    def __init__(self, name: str, precision: str = "float32"):
        from transformers import AutoTokenizer, SiglipModel

        try:
            self._tokenizer, model = AutoTokenizer.from_pretrained(name), SiglipModel.from_pretrained(name)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(
                f"the SigLIP model {name!r} cannot be loaded: {error}",
                remedy="give a hub name such as google/siglip-base-patch16-224, or a folder that holds the model",
            ) from None
        self._device, self._precision = visible_device(), precision
        self._model: Any = model.eval()
        self._model.to(self._device)
        sizes: Any = model.config
        self.size, self.dim = int(sizes.vision_config.image_size), int(sizes.vision_config.hidden_size)
        self._length = int(sizes.text_config.max_position_embeddings)

    @torch.inference_mode()
    def __call__(self, frames: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(frames).to(self._device, non_blocking=True).permute(0, 3, 1, 2)
        with computing(self._device, self._precision):
            return self._model.vision_model(pixels / 127.5 - 1).pooler_output.float().cpu().numpy()

    @torch.inference_mode()
    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """(tokens [L, dim], sentence [dim]) per text, float32: projected states of its own tokens with the end, and the
        model's vector. Text beyond the model's length (64 tokens) is cut off."""
        tokens = self._tokenizer(
            texts, padding="max_length", truncation=True, max_length=self._length, return_tensors="pt"
        )
        ids = tokens["input_ids"].to(self._device)
        output = self._model.text_model(ids)
        states = self._model.text_model.head(output.last_hidden_state).cpu().numpy()
        whole = output.pooler_output.cpu().numpy()
        pad = self._tokenizer.pad_token_id
        lengths = (tokens["input_ids"] != pad).sum(dim=1).clamp(min=1).tolist()
        return [(states[row, :length], whole[row]) for row, length in enumerate(lengths)]
