"""The annotated moments of a corpus: match them with a sentence, or find the nearest one to a span.

A sentence is compared with a moment in three ways: BM25 on its captions, and the cosine of sentence vectors with the
fine and with the coarse caption.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from verified.annotations.selection import coarse_row
from verified.benchmark.tiou import tiou
from verified.errors import InputError
from verified.io.fig import COG_KEYS, read_fig
from verified.io.jsonl import is_span, read_jsonl, write_jsonl
from verified.nn.checkpoint import Form, load, save
from verified_search.sound import sound

K1, B = 1.2, 0.75
"""Saturation of repeated words, and discount of long texts: the usual values."""
WORD = re.compile(r"\w+")


class Words:
    """Texts, indexed by word."""

    def __init__(self, texts: Sequence[str]):
        counts = [Counter(words_of(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], np.float64)
        shortening = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0)) if len(texts) else lengths
        rows: dict[str, list[tuple[int, int]]] = {}
        for row, count in enumerate(counts):
            for word, times in count.items():
                rows.setdefault(word, []).append((row, times))
        self._texts = len(texts)
        self._found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for word, pairs in rows.items():
            places, times = np.array(pairs).T
            self._found[word] = places, times * (K1 + 1) / (times + shortening[places])

    def scores(self, query: str) -> np.ndarray:
        """[texts] float64 from 0 to 1: BM25 divided by its limit for a text of the query's words only, repeated
        endlessly. A word in no text counts too, as the rarest of all.
        """
        scores, most = np.zeros(self._texts), 0.0
        for word in set(words_of(query)):
            places, saturated = self._found.get(word, (np.zeros(0, int), np.zeros(0)))
            rarity = np.log(1 + (self._texts - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += rarity * saturated
            most += rarity * (K1 + 1)
        return scores / most if most else scores


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.casefold())


FILE, SENTENCES = "captions.jsonl", "sentences.safetensors"
FORM = Form("sentence vectors of an index", 1, "remove the folder of the index and build it again: verified index")
KINDS = ("fine", "coarse")


def read_annotated(files: Iterable[str | Path]) -> list[dict]:
    """Rows `video, start, end, coarse, fine, desc_id` of annotation files in the FIG form; `fine` may be empty."""
    return [_annotated(row) for file in files for row in read_fig(file, COG_KEYS)]


def coarse(file: str | Path, split: str = "") -> list[dict]:
    """The same rows of a corpus' moments (moments.jsonl), of all splits or of one, without a fine caption."""
    return [_annotated(coarse_row(row)) for row in read_jsonl(file) if split in ("", row["split"])]


def _annotated(row: dict) -> dict:
    return {
        "desc_id": row["desc_id"],
        "video": row["video"],
        "start": row["time"][0],
        "end": row["time"][1],
        "coarse": row["cog_desc"],
        "fine": row.get("fig_desc") or "",
    }


def write_captions(build: Path, rows: list[dict], earlier: Path | None = None) -> None:
    """Write annotated moments and their sentence vectors into a build; those of an `earlier` build are copied."""
    import torch

    wanted = {text for row in rows for kind in KINDS if (text := row[kind])}
    known = stored_vectors(earlier) if earlier else {}
    if new := sorted(wanted - known.keys()):
        from verified.nn.sentences import encode

        known |= zip(new, encode(new, threads=torch.get_num_threads()).astype(np.float16))
    texts = sorted(wanted)
    stacked = np.stack([known[text] for text in texts]) if texts else np.zeros((0, 0), np.float16)
    save(build / SENTENCES, FORM, {"vectors": torch.from_numpy(stacked)}, {"texts": texts})
    write_jsonl(build / FILE, rows)


def stored_vectors(build: Path) -> dict[str, np.ndarray]:
    """Sentence vectors of a build, float16 [D] of length 1, by text."""
    sound(build.parent, f"{build.name}/{SENTENCES}")
    tensors, facts = load(build / SENTENCES, FORM)
    return dict(zip(facts["texts"], tensors["vectors"].numpy()))


def _problem(row: dict, vectors: dict[str, np.ndarray]) -> str:
    """The reason to refuse a row, or None; a valid row was written together with its vectors."""
    if not all(isinstance(row[key], str) for key in ("video", *KINDS)):
        return "'video', 'fine' and 'coarse' must be texts"
    if not is_span([row["start"], row["end"]]):
        return "'start' and 'end' must be seconds"
    if missing := [kind for kind in KINDS if row[kind] and row[kind] not in vectors]:
        return f"its {missing[0]} caption has no sentence vector in {SENTENCES}"
    return ""


class Captions:
    """The annotated moments of an index."""

    def __init__(self, rows: list[dict], vectors: dict[str, np.ndarray]):
        self.all = rows
        self._of_video: dict[str, list[int]] = {}
        for at, row in enumerate(rows):
            self._of_video.setdefault(row["video"], []).append(at)
        self._texts = sorted({row[kind] for row in rows for kind in KINDS if row[kind]})
        self._stacked = np.stack([vectors[text] for text in self._texts]) if self._texts else np.zeros((0, 0))
        place = {text: at for at, text in enumerate(self._texts)}
        self._places = {kind: np.array([place.get(row[kind], -1) for row in rows], int) for kind in KINDS}

    @classmethod
    def opened(cls, build: Path) -> "Captions":
        """Open the annotated moments of a build."""
        sound(build.parent, f"{build.name}/{FILE}")
        rows, vectors = read_jsonl(build / FILE, ("video", "start", "end", *KINDS)), stored_vectors(build)
        for number, row in enumerate(rows, start=1):
            if problem := _problem(row, vectors):
                raise InputError(problem, file=build / FILE, row=number, remedy=FORM.remedy)
        return cls(rows, vectors)

    @cached_property
    def _words(self) -> Words:
        return Words([f"{row['fine']}\n{row['coarse']}" for row in self.all])

    def scores(self, sentence: str) -> dict[str, np.ndarray]:
        """Scores of each annotated moment for a sentence, [moments] from 0 to 1, by source: `words`, and the captions
        `fine` and `coarse` that the corpus has."""
        if not self._texts:
            return {}
        import torch

        from verified.nn.sentences import encode

        [vector] = encode([sentence], threads=torch.get_num_threads())
        cosines = np.append(self._stacked.astype(np.float32) @ vector, 0.0)  # the last vector belongs to no caption
        scores = {"words": self._words.scores(sentence)}
        return scores | {kind: cosines[places].clip(0, 1) for kind, places in self._places.items() if places.max() >= 0}

    def nearest(self, video: str, start: float, end: float) -> dict | None:
        """The moment of `video` that overlaps [start, end) seconds by the largest tIoU, with it as `overlap`; of those
        that do not overlap, the one with the nearest middle; None in a video without moments."""
        if video not in self._of_video:
            return None
        at, overlap = self._nearest(video, start, end)
        return {**self.all[at], "overlap": round(overlap, 3)}

    def same(self, video: str, start: float, end: float, least: float) -> int | None:
        """The position in `all` of the moment from `start` to `end` (seconds), if one overlaps by at least `least`."""
        if video not in self._of_video:
            return None
        at, overlap = self._nearest(video, start, end)
        return at if overlap >= least else None

    def _nearest(self, video: str, start: float, end: float) -> tuple[int, float]:
        def nearness(at: int) -> tuple[float, float]:
            row = self.all[at]
            return float(tiou(row["start"], row["end"], start, end)), -abs(row["start"] + row["end"] - start - end)

        best = max(self._of_video[video], key=nearness)
        return best, nearness(best)[0]
