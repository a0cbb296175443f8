"""Image backbones of the transformers library, such as ResNet-152 (2048-D, supplement B.1)."""

from pathlib import Path

import numpy as np
import torch

from verified.demo.pretrained.paths import SHIPPED
from verified.errors import InputError
from verified.nn.layers import computing, visible_device
from verified.runtime.project import check_card

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
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
        scale = torch.tensor([MEAN, DEVIATION], device=self._device)[:, :, None, None]
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
