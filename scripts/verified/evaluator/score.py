"""Confidence scores of all candidate captions (section 3.3): each moment encoded once for all its candidates."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from verified.evaluator.clips import CodedClips
from verified.evaluator.inputs import check_complete, scoring_view
from verified.evaluator.model import NoiseEvaluator, confidence, encode, similarity
from verified.evaluator.vision import normalise
from verified.io.fig import TYPES
from verified.nn.layers import computing
from verified.runtime.progress import track


@dataclass(frozen=True)
class EncodedMoment:
    """A clip as captions read it: keys and values of the fusion layers, and a unit vector a frame [1, T, embedding]."""

    memory: list[tuple[Tensor, Tensor]]
    frames: Tensor


@torch.inference_mode()
def encode_moment(model: NoiseEvaluator, frames: Tensor, precision: str = "float32") -> EncodedMoment:
    """Encode a clip, uint8 [T, H, W, 3], once for all captions."""
    with computing(frames.device, precision):
        tokens, vectors = model.encode_video(normalise(frames[None]))
        return EncodedMoment(model.fusion.memory(tokens), vectors)


@torch.inference_mode()
def caption_readings(
    model: NoiseEvaluator, moment: EncodedMoment, captions: list[str], precision: str = "float32"
) -> tuple[dict[str, Tensor], int]:
    """z1, margin, probability and similarity [C] of C captions of a moment; how many were cut at the token limit."""
    ids, mask, truncated = encode(captions)
    device = moment.frames.device
    ids, mask = ids.to(device), mask.to(device)
    with computing(device, precision):
        states, texts = model.encode_text(ids, mask)
        logits = model.match(states, mask, moment.memory)
    return {**confidence(logits.float()), "similarity": similarity(moment.frames, texts)[0]}, truncated


def moment_readings(
    model: NoiseEvaluator, frames: Tensor, captions: list[str], precision: str = "float32"
) -> tuple[dict[str, Tensor], int]:
    """`caption_readings` of a clip, uint8 [T, H, W, 3]."""
    return caption_readings(model, encode_moment(model, frames, precision), captions, precision)


def score_candidates(
    model: NoiseEvaluator,
    clips: np.ndarray | CodedClips,
    index: list[dict],
    captions: list[list[dict]],
    confidence: str,
    device: torch.device,
    precision: str = "float32",
) -> tuple[list[dict], dict[str, int]]:
    """Rows of evaluator/scores/SHARD.jsonl and counts.

    clips [moments, frames, H, W, 3] and index: output of `gather_clips` for the shard. captions: the shard's rows of
    statics and of dynamics captions. confidence: the reading that becomes `score`: z1, margin or similarity. Counts:
    candidates, scored, truncated captions, and candidates without a clip by reason; candidates = scored + those without
    a clip.
    """
    expected = [entry["desc_id"] for entry in index]
    for kind, rows in zip(TYPES, captions, strict=True):
        check_complete(expected, {row["desc_id"] for row in rows}, f"{kind} captions")
    model.to(device).eval()
    by_moment: dict[int, list[tuple[str, int, dict]]] = {}
    for rows in captions:
        for row in rows:
            for number, candidate in enumerate(row["candidates"]):
                by_moment.setdefault(row["desc_id"], []).append((row["type"], number, candidate))
    counts = {"candidates": sum(map(len, by_moment.values())), "scored": 0, "truncated_captions": 0}
    scored = []
    for slot, entry in enumerate(track(index, "scores", len(index), "moments")):
        candidates = by_moment.get(entry["desc_id"], [])
        if candidates and entry["reason"]:
            counts[entry["reason"]] = counts.get(entry["reason"], 0) + len(candidates)
        elif candidates:
            frames = torch.from_numpy(scoring_view(clips[slot], model.size.frames, model.size.image_size)).to(device)
            values_by_name, cut = moment_readings(
                model, frames, [candidate["caption"] for _, _, candidate in candidates], precision
            )
            readings = {name: values.tolist() for name, values in values_by_name.items()}
            counts["scored"] += len(candidates)
            counts["truncated_captions"] += cut
            for number, (kind, position, candidate) in enumerate(candidates):
                values = {name: round(numbers[number], 6) for name, numbers in readings.items()}
                scored.append(
                    {
                        "desc_id": entry["desc_id"],
                        "video": entry["video"],
                        "type": kind,
                        "candidate": position,
                        "caption": candidate["caption"],
                        "lineage": candidate["lineage"],
                        **values,
                        "score": values[confidence],
                    }
                )
    return scored, counts
