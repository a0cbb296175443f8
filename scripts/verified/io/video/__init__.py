"""Video reading: one decode for any number of spans, frames with their true times.

Conventions of the whole package:

- Times are seconds of the player's clock: second 0 is where picture or sound begins, whichever is earlier. A frame is
  on the screen from its own time until the next frame's; the last one until the container says.
- "The frame at time t" is the one on the screen at t. A frame counts as shown up to `TOLERANCE` (1 ms) before its time,
  because containers round timestamps to as little as 1 ms; that is the only rounding.
- Spans are half-open, [start, end). Frames are uint8 RGB in square pixels, turned and
  mirrored as the metadata says, HDR converted to BT.709.
"""

from verified.io.video.decode import TOLERANCE, VideoError, frame_array, open_video, stored_array
from verified.io.video.probe import probe
from verified.io.video.spans import frames_of_spans, iterate_frames, read_frames

__all__ = [
    "TOLERANCE",
    "VideoError",
    "frame_array",
    "frames_of_spans",
    "iterate_frames",
    "open_video",
    "probe",
    "read_frames",
    "stored_array",
]
