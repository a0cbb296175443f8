"""Features of a video's frames by a ResNet, from the file on, beside the network alone.

    python benchmarks/features.py          # ResNet-50, 8 s of 360p at 4 fps; a minute

Random weights, batches of 32 frames. The first row's limit is the network on frames that are at hand, so that what is
missing is decoding and scaling; the second's are the multiplications of its convolutions.
"""

import sys
import tempfile
from functools import partial

import numpy as np
from made_video import described_video, made_video
from sides import Row, arithmetic, asked, compare, multiplications, side

FPS = 4.0
DEPTHS = {"ResNet-50": [3, 4, 6, 3], "ResNet-152": [3, 8, 36, 3]}


def main() -> None:
    options = asked(__doc__)
    import torch

    from verified.features.video import encode_videos

    torch.set_num_threads(1)
    backbone = resnet([1, 1, 1, 1] if options.tiny else DEPTHS["ResNet-50"])
    video = described_video(made_video(8, 120 if options.tiny else 360))
    frames = round(video["duration"] * FPS)  # one batch
    batch = np.random.default_rng(0).integers(0, 256, (frames, backbone.size, backbone.size, 3), dtype=np.uint8)
    network = partial(backbone, batch)
    whole = side("ours", lambda: list(encode_videos([video], backbone, FPS, 1.0, frames, {})), frames)
    alone = side("the network alone", network, frames)
    limit = arithmetic(multiplications(network), frames)
    rows = Row("ResNet-50, from the file on", "frames", whole, None, alone), Row("ResNet-50 alone", "frames", alone)
    compare(options.turns, rows[0], rows[1]._replace(limit=limit))


def resnet(depths: list[int], precision: str = "float32"):
    """An image backbone of random weights, as a configuration loads one from a folder."""
    from transformers import ResNetConfig, ResNetModel

    from verified.features.hub_models import ImageModel

    with tempfile.TemporaryDirectory() as folder:
        config = ResNetConfig(depths=depths, hidden_sizes=[256, 512, 1024, 2048], layer_type="bottleneck")
        ResNetModel(config).save_pretrained(folder)
        return ImageModel(folder, precision)


if __name__ == "__main__":
    sys.exit(main())
