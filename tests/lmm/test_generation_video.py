"""Clips as true video: in the form that vLLM reads, as a file, with their times; as many frames as a context holds."""

import base64
import io
import random
from types import SimpleNamespace

import av
import numpy as np
import pytest
from asking_loopback import ask, engine
from loopback import endpoint
from PIL import Image

from verified.config.generation import EngineSettings
from verified.lmm.client import Call
from verified.lmm.request import Request
from verified.lmm.tasks.dynamics import ANSWERS
from verified.lmm.vision_tokens import frame_tokens, llava_next, picture_tokens

FRAMES = np.stack([np.full((36, 50, 3), 40 * step, np.uint8) for step in range(6)])
EVEN = (0.5, 0.625, 0.75, 0.875, 1.0, 1.125)
UNEVEN = (0.2, 0.3, 0.6, 0.7, 1.1, 1.5)


def asked(tmp_path, times, **changes):
    """The body of the request for a clip."""
    request = Request(
        "answers", 'what is "a dog runs"?', {"caption": "a dog", "questions": "1. q"}, frames=FRAMES, frame_times=times
    )
    with endpoint() as served:
        ask(tmp_path, engine(served.url, **changes), [Call(ANSWERS, request)], attempts=1)
    return served.bodies[0]


def test_frames_go_as_one_video_with_their_times(tmp_path):
    body = asked(tmp_path, UNEVEN, video_input="frames")
    (video, text) = body["messages"][0]["content"]
    head, _, files = video["video_url"]["url"].partition(",")
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(file)))) for file in files.split(",")]
    assert head == "data:video/jpeg;base64" and text["type"] == "text"
    assert [round(float(frame.mean()), -1) for frame in shown] == [0, 40, 80, 120, 160, 200]
    facts = body["media_io_kwargs"]["video"]
    assert [0.2 + index / facts["fps"] for index in facts["frames_indices"]] == pytest.approx(UNEVEN)
    assert facts["total_num_frames"] == 131 and facts["num_frames"] == -1 and facts["do_sample_frames"] is False


@pytest.mark.parametrize("times", [EVEN, UNEVEN])
def test_a_video_file_keeps_frames_and_times(tmp_path, times):
    (video, _) = asked(tmp_path, times, video_input="mp4")["messages"][0]["content"]
    head, _, content = video["video_url"]["url"].partition(",")
    assert head == "data:video/mp4;base64"
    with av.open(io.BytesIO(base64.b64decode(content))) as file:
        shown = [(frame.time, frame.to_ndarray(format="rgb24").mean()) for frame in file.decode(video=0)]
    assert [times[0] + time for time, _ in shown] == pytest.approx(times, abs=0.002)
    assert [mean for _, mean in shown] == pytest.approx([0, 40, 80, 120, 160, 200], abs=6)


def test_llava_counts_as_its_processor_does():
    """Against transformers' own count, on two thousand sizes."""
    from transformers.image_processing_utils import select_best_resolution
    from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor

    processor = SimpleNamespace(patch_size=14)
    shapes = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
    draw = random.Random(1)
    for _ in range(2000):
        width, height = draw.randrange(30, 2000), draw.randrange(30, 2000)
        rows, columns = (side // 336 for side in select_best_resolution([height, width], shapes))
        parts = LlavaNextProcessor._get_unpadded_features(processor, height, width, 24, 24, rows, columns)
        assert llava_next(width, height) == 576 + sum(parts), (width, height)
    role = EngineSettings(engine="openai", model="llava-hf/llava-v1.6-mistral-7b-hf", base_url="http://h/v1")
    clip = SimpleNamespace(images=(), frames=np.zeros((5, 300, 900, 3), np.uint8))
    assert picture_tokens(role, clip) == 5 * llava_next(900, 300) != 5 * llava_next(300, 900)


def test_qwen_resizes_as_its_processor_does():
    """Against transformers' own rule, on two thousand sizes."""
    rule = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl", exc_type=ImportError)
    draw = random.Random(2)
    for name, unit, least, most in (("Qwen2.5-VL", 28, 3136, 12_845_056), ("Qwen3-VL", 32, 65_536, 16_777_216)):
        role = EngineSettings(engine="openai", model=f"Qwen/{name}-7B", base_url="http://h/v1")
        for _ in range(1000):
            width, height = draw.randrange(30, 3000), draw.randrange(30, 3000)
            rows, columns = rule.smart_resize(height, width, unit, least, most)
            assert frame_tokens(role, width, height) == rows * columns / unit**2 + 2
