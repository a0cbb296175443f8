"""Videos with sound made on the spot, for tests."""

from pathlib import Path

import av
import numpy as np

SOUND_RATE = 16_000


def tone(seconds: float, loudness: float = 0.5) -> np.ndarray:
    """440 Hz."""
    return (loudness * np.sin(880 * np.pi * np.arange(round(seconds * SOUND_RATE)) / SOUND_RATE)).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SOUND_RATE), np.float32)


def write_film(path: Path, images, samples: np.ndarray | None, zero: str = "0") -> Path:
    """A Matroska file of uint8 RGB images [H, W, 3] and lossless mono sound; no sound stream where that is None.
    Time stamps begin at second `zero`."""
    images = list(images)
    with av.open(str(path), "w", format="matroska", options={"output_ts_offset": zero}) as container:
        video = container.add_stream("libx264", rate=8, options={"crf": "12"})
        video.height, video.width, video.pix_fmt = *images[0].shape[:2], "yuv420p"
        audio = None if samples is None else container.add_stream("flac", rate=SOUND_RATE, layout="mono")
        for image in images:
            container.mux(video.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(video.encode())
        if audio is not None and samples is not None:
            whole = (np.clip(samples, -1, 1) * 32767).astype(np.int16)
            for at in range(0, len(whole), 4000):
                frame = av.AudioFrame.from_ndarray(whole[None, at : at + 4000], format="s16", layout="mono")
                frame.sample_rate, frame.pts = SOUND_RATE, at
                container.mux(audio.encode(frame))
            container.mux(audio.encode())
    return path
