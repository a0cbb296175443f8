"""Requests in the forms that engines take them: pictures, data URLs, text without control tokens; decoded answers."""

import base64
import gc
import io
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import Image

from verified.errors import InputError
from verified.lmm.request import Request
from verified.lmm.thoughts import ends_in_thought, separate

JPEG_QUALITY = 92


def jpeg_of(frame: np.ndarray) -> bytes:
    """A frame (uint8 RGB [H, W, 3]) as a JPEG file."""
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def fit_picture(image: bytes, side: int) -> bytes:
    """An encoded picture as a JPEG file whose longer side has at most `side` pixels."""
    with Image.open(io.BytesIO(image)) as picture:
        scaled = picture.convert("RGB")
    scaled.thumbnail((side, side), Image.Resampling.LANCZOS)
    return jpeg_of(np.asarray(scaled))


def data_url(image: bytes) -> str:
    """An encoded JPEG or PNG as a data URL."""
    kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def video_url(frames: np.ndarray) -> str:
    """A clip (uint8 RGB [T, H, W, 3]) as a video data URL that vLLM reads as frames: JPEG files with commas."""
    files = ",".join(base64.b64encode(jpeg_of(frame)).decode("ascii") for frame in frames)
    return f"data:video/jpeg;base64,{files}"


def video_facts(times: Sequence[float]) -> dict:
    """vLLM's metadata of a clip that is given as frames, from their times in seconds.

    The frames are on a grid of 1/`fps` seconds, at the positions in `frames_indices`, so that uneven times are
    preserved; the grid step is the mean distance of evenly spaced frames, and otherwise a hundredth of a second.
    """
    steps = np.diff(times)
    even = len(steps) and steps.min() > 0 and np.abs(steps - steps.mean()).max() < 0.005
    fps = float(1 / steps.mean()) if even else 100.0
    first = times[0] if len(times) else 0.0
    indices = np.round((np.asarray(times) - first) * fps).astype(int).tolist()
    total = (indices[-1] if indices else 0) + 1
    return {
        "fps": fps,
        "duration": total / fps,
        "total_num_frames": total,
        "frames_indices": indices,
        "do_sample_frames": False,
    }


def mp4_url(frames: np.ndarray, times: Sequence[float]) -> str:
    """A clip as a data URL of an H.264 file whose frames [frames, H, W, 3] are shown at `times` (seconds)."""
    import av

    height, width = (side // 2 * 2 for side in frames.shape[1:3])
    out = io.BytesIO()
    with av.open(out, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=1000, options={"crf": "18", "preset": "fast", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for frame, time in zip(frames, times):
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame[:height, :width]), format="rgb24")
            picture.pts = round((time - times[0]) * 1000)
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return f"data:video/mp4;base64,{base64.b64encode(out.getvalue()).decode('ascii')}"


def pictures(request: Request) -> list[Image.Image]:
    """Images, then frames of a request, decoded, RGB. Raises OSError or ValueError for one that cannot be decoded."""
    images = []
    for image in request.images:
        with Image.open(io.BytesIO(image)) as opened:
            images.append(opened.convert("RGB"))
    if request.frames is not None:
        images += [Image.fromarray(frame) for frame in request.frames]
    return images


def remove_control_tokens(text: str, tokens: Iterable[str]) -> str:
    """`text` in which no control token of the model can be read, such as ``<image>`` or ``[INST]`` in a caption.

    Each is split by a space after its first character.
    """
    for token in sorted(filter(lambda token: len(token) > 1, tokens), key=len, reverse=True):
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def decode_answer(tokenizer: Any, prompt_ids: Sequence[int], ids: Sequence[int]) -> tuple[str, str]:
    """(answer, thought) in the tokens that a model wrote.

    Markers of thoughts are control tokens of many models, and of others the chat template has opened the thought: so
    both are looked for before control tokens are dropped.
    """
    opened = ends_in_thought(tokenizer.decode(list(prompt_ids[-20:]), skip_special_tokens=False))
    text = tokenizer.decode(list(ids), skip_special_tokens=False)
    parts = separate(f"<think>{text}" if opened else text)
    if not parts.thought and not opened:
        return tokenizer.decode(list(ids), skip_special_tokens=True), ""
    control = sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)
    answer, thought = (_without(text, control) for text in (parts.answer, parts.thought))
    return answer, thought


def _without(text: str, tokens: Iterable[str]) -> str:
    for token in tokens:
        text = text.replace(token, "")
    return text.strip()


def no_template_for(content: str, model: str, error: Exception) -> InputError:
    """The error of a chat template that does not accept `content`; every request would raise it."""
    return InputError(
        f"the chat template of {model!r} does not take {content}: {error!r}",
        remedy="fetch the model with its processor's chat template, set `video_input: stills`, or name another model",
    )


def free_gpu_memory() -> None:
    """Return the memory of unloaded models to the GPU."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
