"""Features of a video's frames by a ResNet, from the file on, beside the network alone.

    python benchmarks/features.py                # ResNet-50, 8 s of 360p at 4 fps; a minute
    python benchmarks/features.py --resnet152    # the paper's, beside three files; some minutes

Random weights, batches of 32 frames. The first row's limit is the network on frames that are at hand, so that what is
missing is decoding and scaling; the second's are the multiplications of its convolutions.
"""

import sys
import tempfile

import numpy as np
from made_video import described_video, made_video
from sides import Row, arithmetic, asked, compare, described, multiplications, side

BATCH, FPS = 32, 4.0
DEPTHS = {"ResNet-50": [3, 4, 6, 3], "ResNet-152": [3, 8, 36, 3]}


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("--resnet152", action="store_true")
    options = asked(parser)
    import torch

    from verified.features.video import encode_videos

    torch.set_num_threads(1)
    name = "ResNet-152" if options.resnet152 else "ResNet-50"
    backbone = resnet([1, 1, 1, 1] if options.tiny else DEPTHS[name])
    sizes = [(8, 120)] if options.tiny else [(8, 240), (8, 360), (8, 480)] if options.resnet152 else [(8, 360)]
    videos = [described_video(made_video(seconds, height)) for seconds, height in sizes]
    frames = sum(round(row["duration"] * FPS) for row in videos)
    batch = np.random.default_rng(0).integers(0, 256, (BATCH, backbone.size, backbone.size, 3), dtype=np.uint8)
    batches = [batch] * (frames // BATCH) + [batch[: frames % BATCH]] * (frames % BATCH > 0)

    def network() -> None:
        for one in batches:
            backbone(one)

    whole = side("ours", lambda: list(encode_videos(videos, backbone, FPS, 1.0, BATCH, {})), frames)
    alone = side("the network alone", network, frames)
    limit = arithmetic(multiplications(network), frames)
    rows = Row(f"{name}, from the file on", "frames", whole, None, alone), Row(f"{name} alone", "frames", alone)
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
