"""Scoring of candidate captions and a step of fine-tuning.

    python benchmarks/evaluator.py          # half a minute

The scored network keeps L/16's proportions and is shortened: patches of 16 pixels at 224 (196 tokens a frame), four
times the width in the feed-forward layers, heads of 64, and layers as 24 : 19 : 5; width, layers and frames are divided
by four or five. Six captions of 16 words stand for six candidates of a moment (64 words would be the full size's limit,
with four times the tokens on the video's side too). A moment encoded once for all its candidates is beside a pair at a
time, with the same logits; the step is that of the demo's size on 16 moments with all roles. The limit is the
multiplications that our side does.
"""

import sys

from sides import Row, arithmetic, asked, compare, multiplications, side

CAPTIONS, WORDS, FRAMES = 6, 16, 5


def main() -> None:
    options = asked(__doc__)
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.inference_mode():
        compare(options.turns, *scored(options.tiny))
    compare(options.turns, trained(2 if options.tiny else 16))


def scored(tiny: bool) -> list[Row]:
    """All candidates of a moment, and the fusion layers alone."""
    import torch

    model, pixels = shortened(tiny), torch.randn(1, FRAMES, 3, 224, 224)
    ids, mask = torch.randint(5, 1000, (CAPTIONS, WORDS)), torch.ones(CAPTIONS, WORDS, dtype=torch.int64)
    tokens, _ = model.encode_video(pixels)
    states = model.text(ids, mask)
    each = [slice(at, at + 1) for at in range(CAPTIONS)]

    def moment_once():
        tokens, _ = model.encode_video(pixels)
        return model.match(model.text(ids, mask), mask, model.fusion.memory(tokens))

    def moment_per_pair():
        return torch.cat([pair(model.encode_video(pixels)[0], model.text(ids[one], mask[one]), one) for one in each])

    def fusion_once():
        return model.match(states, mask, model.fusion.memory(tokens))

    def fusion_per_pair():
        return torch.cat([pair(tokens, states[one], one) for one in each])

    def pair(tokens, states, one):
        return model.match(states, mask[one], model.fusion.memory(tokens))

    rows = []
    for work, ours, literal, times in (
        ("six candidates of a moment scored", moment_once, moment_per_pair, 2),
        ("the fusion layers alone", fusion_once, fusion_per_pair, 20),
    ):
        torch.testing.assert_close(ours(), literal(), atol=1e-4, rtol=1e-4)
        limit = arithmetic(multiplications(ours), CAPTIONS)
        beside = side("a pair at a time", literal, CAPTIONS, times)
        rows.append(Row(work, "captions", side("the moment once", ours, CAPTIONS, times), beside, limit))
    return rows


def shortened(tiny: bool):
    """An evaluator with L/16's proportions and random weights, computing as scoring does."""
    from verified.evaluator.model import NoiseEvaluator
    from verified.evaluator.settings import Architecture

    width, layers = (64, 1) if tiny else (256, 5)
    size = Architecture(
        "shortened",
        FRAMES,
        224,
        vision_width=width,
        vision_layers=layers,
        vision_heads=4,
        vision_feedforward=4 * width,
        text_width=width,
        text_layers=4,
        fusion_layers=1,
        text_heads=4,
        text_feedforward=4 * width,
        vocabulary=1000,
    )
    return NoiseEvaluator(size).eval()


def trained(moments: int) -> Row:
    """A step of fine-tuning at the demo's size."""
    import numpy as np

    from verified.evaluator.inputs import make_batch
    from verified.evaluator.model import NoiseEvaluator
    from verified.evaluator.settings import architecture
    from verified.evaluator.training import TrainingStep, adamw

    size = architecture("tiny", 8, 64)
    step = TrainingStep(NoiseEvaluator(size), "all", "batch")
    frames = np.random.default_rng(1).integers(0, 256, (moments, 8, 64, 64, 3), dtype=np.uint8)
    names = [f"video {number}" for number in range(moments)]
    balls = {"caption": ("small", "left"), "static": ("large", "left"), "dynamic": ("small", "right")}
    captions = {
        role: [f"a {look} ball {number} moves to the {way}" for number in range(moments)]
        for role, (look, way) in balls.items()
    }
    optimiser, batch = adamw(step, 1e-4), make_batch(frames, captions, names)

    def once() -> None:
        loss, _ = step(batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    once()
    limit = arithmetic(multiplications(once), moments)
    work = f"a step of fine-tuning, {moments} moments, size of the demo"
    return Row(work, "moments", side("ours", once, moments), None, limit)


if __name__ == "__main__":
    sys.exit(main())
