"""A vector of a text, a frame or a clip: the one task of the role `embed`.

An answer is JSON: the vector, scaled to length 1, as float16 in base64, which moves a cosine by less than 0.001.
"""

import base64
import json
from collections.abc import Sequence

import numpy as np

from verified.lmm.request import Parsed
from verified.lmm.tasks import TEXT, Task, object_schema


def vector_text(values: Sequence[float] | np.ndarray) -> str:
    """The answer that holds a vector [dim]. Raises ValueError for one without a direction."""
    vector = np.asarray(values, dtype=np.float64)
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 else 0.0
    if not np.isfinite(length) or length <= 0:
        raise ValueError("a vector of numbers that are not all 0 was expected")
    packed = (vector / length).astype("<f2").tobytes()
    return json.dumps({"vector": base64.b64encode(packed).decode("ascii")})


def vector_of(text: str) -> np.ndarray:
    """The vector of an answer, float32 [dim]. Raises ValueError for any other text."""
    value = json.loads(text)
    packed = value.get("vector") if isinstance(value, dict) else None
    if not isinstance(packed, str):
        raise ValueError("no vector")
    vector = np.frombuffer(base64.b64decode(packed, validate=True), "<f2").astype(np.float32)
    if not len(vector) or not np.isfinite(vector).all() or not vector.any():
        raise ValueError("not a vector of numbers")
    return vector


def read_vector(_slots: dict[str, str], text: str, _count: int, cut: bool) -> Parsed:
    """Whether the answer holds a vector: its only part."""
    try:
        dim = len(vector_of(text))
    except (ValueError, RecursionError):
        return Parsed(missing=1)
    return Parsed(sections={"dim": str(dim)}, missing=int(cut))


EMBEDDING = Task(
    "embed/vector",
    "embed",
    ("kind", "instruction", "frame_number"),
    read_vector,
    lambda _count: object_schema({"vector": TEXT}),
    0,
    lambda _count, _identity: Parsed(sections={"dim": "1"}),
    prompted=False,
)
"""Its prompt is the text itself, or empty where a frame or clip is shown; `kind` is query, text, frame or clip."""
