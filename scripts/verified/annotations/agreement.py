"""Agreement of a moment's candidates, for corpora without an evaluator trained on real videos.

Three untrained signals: the other candidates of the moment and the coarse caption, by sentence vectors; and the
keyframes, by a joint encoder, in two parts: the similarity of caption and keyframes, and whether the objects that it
names are among those recognised there. Each part is standardised within the moment, as their scales differ, and the
agreement is the mean of the signals. A part that is equal for all candidates of a moment is 0.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
from PIL import Image

from verified.errors import InputError
from verified.features.encoders import JointEncoder, fit, from_sentence_model, whole_sentences
from verified.features.packaged import class_names
from verified.keyframes.archive import KeyframeTar
from verified.nn.sentences import encode
from verified.runtime.progress import Progress

PARTS = {"candidates": 1 / 3, "coarse": 1 / 3, "frames": 1 / 6, "things": 1 / 6}
"""Weights: as much for each witness."""
TEXTS_AT_ONCE = 64
FRAMES_AT_ONCE = 4
"""So few that the packaged encoder's maps are small enough for glibc to keep their memory (`runtime.job`)."""
LONGEST_THING = 3
"""Most words that the name of a thing in a caption can have."""


def agreement(
    moments: Iterable[dict],
    scores: Iterable[dict],
    frames: Mapping[int, np.ndarray],
    encoder: JointEncoder,
    sentence_model: str,
    threads: int = 1,
) -> list[dict]:
    """Rows ``desc_id, type, candidate, agreement`` and each of `PARTS`, all standardised within the moment.

    `scores` are rows of evaluator/scores/SHARD.jsonl, which include every candidate; the order is the same. `frames`
    are vectors [keyframes, dim] of length 1 by moment (see `frame_vectors`); a moment without any is judged by its
    captions alone, and one without a coarse caption (an empty text) by the others. Raises InputError for scores of
    another corpus.
    """
    coarse = {moment["desc_id"]: moment["caption"] for moment in moments}
    rows = list(scores)
    if strange := {row["desc_id"] for row in rows} - coarse.keys():
        raise InputError(
            f"a score belongs to moment {min(strange)}, which is not in the corpus", remedy="score the candidates again"
        )
    if not rows:
        return []
    captions = [row["caption"] for row in rows]
    sentences = encode([*captions, *(coarse[row["desc_id"]] for row in rows)], sentence_model, threads)
    own, of_coarse = sentences[: len(rows)], sentences[len(rows) :]
    named = [things_in(caption) for caption in captions]
    vocabulary = sorted(things()) if any(named) else []
    vectors = from_sentence_model(encoder, sentence_model, own)
    seeing = {} if vectors is None else dict(zip(captions, unit(vectors)))
    seeing |= _joint_vectors({*captions, *vocabulary} - seeing.keys(), encoder)
    every = np.stack([seeing[name] for name in vocabulary]) if vocabulary else np.zeros((0, encoder.dim))
    groups: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row["desc_id"], []).append(number)
    parts = np.zeros((len(PARTS), len(rows)))
    for desc_id, group in groups.items():
        cosines = own[group] @ own[group].T
        parts[0, group] = (cosines.sum(axis=1) - cosines.diagonal()) / max(len(group) - 1, 1)
        parts[1, group] = (own[group] * of_coarse[group]).sum(axis=1) if coarse[desc_id] else 0.0
        pictures = frames.get(desc_id)
        if pictures is not None and len(pictures):
            parts[2, group] = (np.stack([seeing[captions[number]] for number in group]) @ pictures.T).mean(axis=1)
            nearness = dict(zip(vocabulary, (every @ pictures.mean(axis=0)).tolist()))
            parts[3, group] = _things_agreement([named[number] for number in group], nearness)
        parts[:, group] = _standardise(parts[:, group])
    whole = np.array([*PARTS.values()]) @ parts
    return [
        {
            **{name: row[name] for name in ("desc_id", "type", "candidate")},
            "agreement": round(float(whole[number]), 6),
            **{part: round(float(parts[place, number]), 6) for place, part in enumerate(PARTS)},
        }
        for number, row in enumerate(rows)
    ]


def frame_vectors(keyframes: KeyframeTar, encoder: JointEncoder) -> dict[int, np.ndarray]:
    """Vectors [keyframes, dim] of length 1 of the keyframes of each moment, by its `desc_id`.

    Raises InputError for a keyframe that is not a picture.
    """
    listed = [(desc_id, entry["file"]) for desc_id in sorted(keyframes.rows) for entry in keyframes.keyframes(desc_id)]
    vectors = []
    progress = Progress("keyframes seen", len(listed), "keyframes")
    for at in range(0, len(listed), FRAMES_AT_ONCE):
        batch = [_picture(name, keyframes.image(name), encoder) for _, name in listed[at : at + FRAMES_AT_ONCE]]
        vectors.append(unit(encoder(np.stack(batch))))
        progress.step(len(batch))
    progress.finish()
    whole = np.concatenate(vectors) if vectors else np.zeros((0, encoder.dim), np.float32)
    numbers_of: dict[int, list[int]] = {}
    for number, (desc_id, _) in enumerate(listed):
        numbers_of.setdefault(desc_id, []).append(number)
    return {desc_id: whole[numbers] for desc_id, numbers in numbers_of.items()}


def _picture(name: str, content: bytes, encoder: JointEncoder) -> np.ndarray:
    try:
        with Image.open(io.BytesIO(content)) as picture:
            return fit(picture, encoder)
    except OSError as error:
        raise InputError(
            f"keyframe {name} is no picture: {error}", remedy="delete the keyframes and run again"
        ) from None


@cache
def things() -> frozenset[str]:
    """Names of objects: the packaged encoder's classes, their next broader terms in WordNet, and the last word of
    either, which names the kind (a mountain bike is a bike)."""
    names = {name for both in class_names() for name in both}
    return frozenset(names | {name.split()[-1] for name in names})


def things_in(caption: str) -> frozenset[str]:
    """The objects named in a caption, in the singular; words within a longer name are not counted again."""
    words, subjects, at = re.findall(r"[a-z]+", caption.casefold()), set(), 0
    while at < len(words):
        for length in range(min(LONGEST_THING, len(words) - at), 0, -1):
            thing = next(filter(things().__contains__, _singulars(" ".join(words[at : at + length]))), None)
            if thing:
                subjects.add(thing)
                at += length - 1
                break
        at += 1
    return frozenset(subjects)


def _singulars(name: str) -> Iterable[str]:
    """A name unchanged, then its possible singulars."""
    yield name
    for plural, singular in (("ies", "y"), ("ves", "f"), ("es", ""), ("s", "")):
        if name.endswith(plural):
            yield name.removesuffix(plural) + singular


def _things_agreement(named: Sequence[frozenset[str]], nearness: Mapping[str, float]) -> np.ndarray:
    """[candidates] from -0.5 to 0.5: for each thing that it names, the share of all things that are less near to the
    frames, less a half; for one that only other candidates name, 0; their mean."""
    mentioned = sorted(frozenset().union(*named))
    if not mentioned:
        return np.zeros(len(named))
    ranked = np.sort(np.fromiter(nearness.values(), float))
    likely = np.searchsorted(ranked, [nearness[name] for name in mentioned]) / len(ranked) - 0.5
    return (np.array([[name in names for name in mentioned] for names in named]) * likely).mean(axis=1)


def _joint_vectors(texts: Iterable[str], encoder: JointEncoder) -> dict[str, np.ndarray]:
    """The joint encoder's vector of each text, of length 1; texts of about the same length go together."""
    ordered = sorted(texts, key=lambda text: (len(text), text))
    vectors: dict[str, np.ndarray] = {}
    progress = Progress("joint sentence vectors", len(ordered), "texts")
    for at in range(0, len(ordered), TEXTS_AT_ONCE):
        batch = ordered[at : at + TEXTS_AT_ONCE]
        vectors |= {text: unit(whole) for text, whole in zip(batch, whole_sentences(encoder, batch), strict=True)}
        progress.step(len(batch))
    progress.finish()
    return vectors


def _standardise(parts: np.ndarray) -> np.ndarray:
    """[parts, candidates] with mean 0 and deviation 1 in each part; 0 where a part is the same for all."""
    spread = parts.std(axis=1, keepdims=True)
    return np.where(spread > 1e-6, (parts - parts.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-6), 0.0)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors [..., dim], each scaled to length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
