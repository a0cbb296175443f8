"""Search an index: find moments for a sentence by the captions of annotated moments and by the model's view of the
clips.

A retrieval model decodes a query as the benchmark does (`benchmark.vcmr.search`): videos with the best clips, weighted
probabilities of starts and ends, the best spans, suppression of overlaps. Only the lookup of videos differs, and an
exact index returns the same videos. A joint encoder has no localiser. For it, and for a moment as query ("more like
this"), a span is the window around the best clip whose clips are nearer to that clip than to the video's mean.

Annotated moments whose captions are nearest to the sentence join the model's spans, and all are scored by captions and
clips together (see `fusion`).
"""

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from verified.benchmark.lists import NO_VIDEO, Lists, suppress
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.contract import Encoded, RetrievalModel
from verified.benchmark.vcmr.decode import best_spans
from verified.benchmark.vcmr.metrics import DEPTH
from verified.benchmark.vcmr.search import SearchSettings, localise
from verified.errors import InputError
from verified_search.captions import Captions
from verified_search.config import JOINT
from verified_search.encoders import Encoder, JointEncoder, ModelEncoder
from verified_search.example import Example, frames_of
from verified_search.fusion import LEAST, above_average, salience, shares
from verified_search.origin import caution
from verified_search.presence import hint, nearest_caption
from verified_search.sound import sound
from verified_search.store import build_folder, read_manifest
from verified_search.windows import Windows

LONGEST_QUERY = 2000
"""Most characters of a query; any encoder would cut the rest."""
POOL = 200
"""Annotated moments, the nearest by their captions, whose clips are compared."""
SAME = 0.5
"""tIoU from which a span that the model found is the annotated moment."""
NAMED = 3
"""Things that are named, of a sentence and of a clip."""
KNOWN = 0.45
"""Cosine from which a sentence is about something that the packaged encoder knows (docs/measurements.md)."""
ROUNDED = 0.001
"""Seconds that the ends of a span may reach into a neighbour."""
BACKGROUND = 200
"""Most windows for estimating the usual similarity in the corpus."""


@dataclass(frozen=True)
class Candidate:
    """A window that may contain the answer to a query."""

    window: int
    score: float
    """Largest cosine of its clips with the query."""


@dataclass(frozen=True)
class Moment:
    """A moment returned by a search."""

    video: str
    start: float
    """Seconds."""
    end: float
    score: float
    """From 0, no nearer to the query than an average moment, to 1; of moments like another, the cosine."""
    similarity: float
    """Largest cosine of a clip with the query: of the moment's, or of the window that the model found it in."""
    caption: dict | None
    """The nearest annotated moment: start, end, coarse, fine, overlap (tIoU)."""
    duration: float
    parts: dict[str, float] = field(default_factory=dict)
    """Contribution of each part to the score: `words`, `fine` and `coarse` captions, and the model by its name."""
    seen: list[str] = field(default_factory=list)
    """Names that the encoder gives to the clip nearest to the query, if it has names."""


@dataclass(frozen=True)
class Answer:
    """Moments, best first, and the index's reading of the query."""

    query: str
    moments: list[Moment]
    unrelated: float | None = None
    """Share of unrelated sentences that are as near to a caption (see `presence`); None for one video."""
    caution: str = ""
    """Warning shown first if a ranking is no better than chance (see `origin`)."""

    def plain(self) -> dict:
        """Convert to JSON values."""
        return asdict(self)


UNWRITTEN = "Nothing was written about these videos, so whether they show it cannot be told"
"""Scores of what clips show and of what none shows overlap (docs/measurements.md, Absent things)."""

UNSEEN = "Whether a moment shows the same cannot be told"
SAME_SHOT, OTHER = 0.9, 0.7
"""Cosines of the packaged encoder: of pictures of other videos none of 240 reached the first; of whole pictures of a
shot in the index none of 120 was below the second (README.md)."""


class Index:
    """An index opened for queries."""

    def __init__(self, folder: str | Path, manifest: dict | None = None, encoder: Encoder | None = None):
        self.folder = Path(folder)
        self.manifest = manifest or read_manifest(self.folder)
        build = build_folder(self.folder, self.manifest)
        self.encoder = encoder or encoder_of(build, self.manifest)
        self.stored = Windows(build, self.manifest["build"])
        self.captions = Captions.opened(build)
        self.positions = {row["video"]: position for position, row in enumerate(self.stored.videos)}
        """Position of each video in `stored.videos`."""
        self.weights: dict[str, float] = self.manifest.get("weights", {})
        """Of the parts of a search, by name (see `fusion`); empty in a new index."""

    def row(self, video: str) -> dict:
        """The row of a video. Raises InputError for a video that the index does not have."""
        if video not in self.positions:
            raise InputError(f"no video {video!r} in the index", file=self.folder)
        return self.stored.videos[self.positions[video]]

    def windows(self, video: str) -> range:
        """The windows of a video."""
        self.row(video)
        return self.stored.of_video(self.positions[video])

    def ask(self, text: str, top: int = 10, video: str | None = None) -> Answer:
        """Find the `top` moments for a sentence, of one `video` or of all. Raises InputError for a query without
        text."""
        text = _checked(text)
        query = self.encoder.query(text)
        candidates = self.candidates(vector_of(query), self.manifest["searched_videos"], only=video)
        located = self.moments(query, candidates, DEPTH)
        moments, written = self.fused(text, vector_of(query), located, top, video)
        warning = caution(self.manifest["ranking"], written)
        if not warning and not self.captions.all:
            warning = f"{UNWRITTEN}{self._understood(vector_of(query))}."
        unrelated = None if video else self._unrelated(text)
        return Answer(text, self._named(moments, vector_of(query)), unrelated, warning)

    def _unrelated(self, text: str) -> float | None:
        """Share of the unrelated sentences that are at least as near to a caption as this one."""
        scores = self.manifest["unrelated"]
        return float(np.mean(np.array(scores) >= nearest_caption(self.captions, text))) if scores else None

    def hint(self, answer: Answer, only: str | None = None) -> str:
        """The hint above an answer on the presence of the query in the corpus; empty for one video, or for an answer
        that already reports how the query was understood."""
        return "" if only or (self._names and not self.captions.all) else hint(answer.unrelated)

    @property
    def _names(self) -> bool:
        """Return whether the encoder names objects."""
        return self.encoder.near is not None

    def _understood(self, query: np.ndarray) -> str:
        """Names that an encoder with names assigns to a sentence [D]; empty for other encoders."""
        if not self._names:
            return ""
        [nearest] = self.encoder.names(query[None], NAMED)
        names = ", ".join(name for name, _ in nearest)
        return f"; the encoder looks for: {names}"

    def _named(self, moments: list[Moment], query: np.ndarray) -> list[Moment]:
        """Moments with the names of the objects in each, for an encoder with names; otherwise unchanged."""
        if not self._names or not moments:
            return moments
        named = []
        for one in moments:
            clips = self._clips_in(one.video, one.start + ROUNDED, one.end - ROUNDED)
            nearest = clips[np.argsort(-(clips @ query))[:1]]
            named.append(replace(one, seen=[name for names in self.encoder.names(nearest, NAMED) for name, _ in names]))
        return named

    def fused(
        self, text: str, query: np.ndarray, located: list[Moment], top: int, only: str | None
    ) -> tuple[list[Moment], bool]:
        """Score the model's spans and the annotated moments by captions and clips, and return the `top` of them.

        `query` [dim] is the sentence's vector. Also returns whether captions contributed to any score.
        """
        model = self.manifest["model"]
        # An encoder with names is trusted where it knows one near the sentence.
        unknown = self._names and self.encoder.names(query[None], 1)[0][0][1] < KNOWN
        weights = {**self.weights, model: LEAST} if unknown else self.weights
        written = {name: above_average(scores) for name, scores in self.captions.scores(text).items()}
        rows = self.captions.all
        near = sum((weights[name] * scores for name, scores in written.items()), np.zeros(len(rows)))
        searched = self.positions if only is None else self.positions.keys() & {only}
        allowed = [at for at in np.argsort(-near, kind="stable") if rows[at]["video"] in searched]
        pool = {int(at): None for at in allowed[:POOL] if near[at] > 0}
        unwritten = []
        for moment in located:
            at = self.captions.same(moment.video, moment.start, moment.end, SAME)
            unwritten.append(moment) if at is None else pool.setdefault(at)
        annotated = [self._annotated(rows[at], query) for at in pool]
        found = [*annotated, *unwritten]
        if not found:
            return [], False
        chosen = np.array(list(pool), int)
        parts = {name: np.concatenate([scores[chosen], np.zeros(len(unwritten))]) for name, scores in written.items()}
        similar = np.array([one.similarity for one in found])
        parts[model] = salience(similar, self._background @ query, self.encoder.near)
        put = shares(parts, weights)
        total = sum(put.values(), np.zeros(len(found)))
        # Without captions the model's own order is used: its spans of a window share the window's similarity.
        order = np.argsort(-total, kind="stable") if pool else np.arange(len(found))
        moments: list[Moment] = []
        for at in order:
            if len(moments) == top:
                break
            one = found[at]
            if not any(self._overlapping(one, other) for other in moments):
                shown = {name: round(float(values[at]), 4) for name, values in put.items()}
                moments.append(replace(one, score=round(float(total[at]), 4), parts=shown))
        return moments, bool(pool)

    def _overlapping(self, one: Moment, other: Moment) -> bool:
        threshold = self.manifest["spans"]["nms_threshold"]
        return one.video == other.video and tiou(one.start, one.end, other.start, other.end) > threshold

    def _annotated(self, row: dict, query: np.ndarray) -> Moment:
        """An annotated moment, with the largest cosine of its clips and a query [D]."""
        video, start, end = row["video"], row["start"], row["end"]
        similarity = max([-1.0, *(self._clips_in(video, start, end) @ query)])
        return Moment(
            video, start, end, 0.0, float(similarity), {**row, "overlap": 1.0}, self.row(video).get("duration") or end
        )

    def _clips_in(self, video: str, start: float, end: float) -> np.ndarray:
        """[clips, D] of a video that overlap [start, end) seconds."""
        inside = []
        for window in self.windows(video):
            vectors, seconds = self.stored.search_vectors(window), self.stored.seconds[window]
            begins = self.stored.offset[window] + np.arange(len(vectors)) * seconds
            inside.append(vectors[(begins < end) & (begins + seconds > start)])
        return np.concatenate(inside)

    @cached_property
    def _background(self) -> np.ndarray:
        """[clips, D] of windows at equal distances through the index."""
        count = len(self.stored.clips)
        picked = range(0, count, max(1, count // BACKGROUND))
        return np.concatenate([self.stored.search_vectors(window) for window in picked])

    def clip_vectors(self, video: str) -> np.ndarray:
        """[clips, D] of all windows of a video."""
        return np.concatenate([self.stored.search_vectors(window) for window in self.windows(video)])

    def like(self, video: str, start: float, end: float, top: int = 10) -> Answer:
        """Moments whose clips are nearest to the mean clip of [start, end) seconds of a video. The mean is over clips
        with their middle in the span; for a span too short for any, over the clips that overlap it."""
        blocks = []
        for window in self.windows(video):
            vectors = self.stored.search_vectors(window)
            times = self.stored.offset[window] + (np.arange(len(vectors)) + 0.5) * self.stored.seconds[window]
            blocks.append(vectors[(times >= start) & (times < end)])
        inside = np.concatenate(blocks)
        if not len(inside) and start < end:
            inside = self._clips_in(video, start, end)
        if not len(inside):
            raise InputError(f"{start}–{end} s holds no clip of {video!r}")
        query = inside.mean(axis=0)
        query /= max(float(np.linalg.norm(query)), 1e-6)
        candidates = self.candidates(query, self.manifest["searched_videos"])
        similar = self._similar(query, candidates, top + 1)
        elsewhere = [
            moment for moment in similar if moment.video != video or moment.end <= start or moment.start >= end
        ]
        return Answer(f"like {video}, {start:g}–{end:g} s", self._named(elsewhere[:top], query))

    def view(self) -> tuple[int, bool]:
        """See `JointEncoder.view`. Raises InputError for an index of a trained model, which knows sentences alone."""
        if isinstance(self.encoder, JointEncoder):
            return self.encoder.view
        raise InputError(
            f"an index of {self.manifest['model']} is searched by sentences alone",
            file=self.folder,
            remedy="index a folder of videos, or set search.model: joint",
        )

    def like_file(self, example: Example, text: str | None = None, top: int = 10, video: str | None = None) -> Answer:
        """`like_frames` of a picture or a clip. Raises InputError for an unusable file too."""
        return self.like_frames(frames_of(example, *self.view()), example.path.name, text, top, video)

    def like_frames(
        self, frames: np.ndarray, name: str, text: str | None = None, top: int = 10, video: str | None = None
    ) -> Answer:
        """Moments whose clips are nearest to frames of an example, as `view` asks for them, or to these and a sentence,
        by the sum of their vectors. Raises InputError for an empty or too long sentence."""
        assert isinstance(self.encoder, JointEncoder)
        query = self.encoder.query_of_frames(frames)
        if text is not None:
            text = _checked(text)
            query = query + vector_of(self.encoder.query(text))
            query /= max(float(np.linalg.norm(query)), 1e-6)
        similar = self._similar(query, self.candidates(query, self.manifest["searched_videos"], only=video), top)
        warning = f"{UNSEEN}{self._understood(query)}."
        if text is None and self._names and similar:
            if similar[0].similarity < OTHER:
                warning = f"Probably not here, unless cropped or small{self._understood(query)}. The nearest moments:"
            elif similar[0].similarity >= SAME_SHOT:
                warning = ""
        return Answer(f"like {name}" + (f", {text}" if text else ""), self._named(similar, query), caution=warning)

    def candidates(self, query: np.ndarray, count: int, only: str | None = None) -> list[Candidate]:
        """The `count` best windows for a query vector [D], best first, of one video or of all."""
        if only is not None:
            ranked = [
                Candidate(window, float((self.stored.search_vectors(window) @ query).max()))
                for window in self.windows(only)
            ]
            return sorted(ranked, key=lambda candidate: -candidate.score)[:count]
        ranked = [Candidate(int(one), float(score)) for one, score in zip(*self.stored.search(query, count))]
        return sorted(ranked, key=lambda candidate: -candidate.score)[:count]

    def moments(self, query: Encoded, candidates: list[Candidate], top: int) -> list[Moment]:
        """The `top` spans in the windows, best first."""
        if not candidates:
            return []
        if self.encoder.model is None:
            return self._similar(vector_of(query), candidates, top)
        lists, slots = self._spans(self.encoder.model, query, candidates)
        located = []
        for rank in range(lists.video.shape[1]):
            if lists.video[0, rank] == NO_VIDEO or len(located) == top:
                break
            start, end, score = (float(column[0, rank]) for column in (lists.start, lists.end, lists.score))
            located.append(self._moment(slots[int(lists.video[0, rank])], start, end, score))
        return located

    @torch.no_grad()
    def _spans(
        self, model: RetrievalModel, query: Encoded, candidates: list[Candidate]
    ) -> tuple[Lists, dict[int, Candidate]]:
        """Decode windows as the benchmark does; its videos are numbers, each with its best window."""
        spans = self.manifest["spans"]
        corpus = self._gather_encoded(candidates)
        scores, order = model.video_scores(query, corpus).topk(len(candidates), dim=1)
        settings = SearchSettings(spans["min_pred_clips"], spans["max_pred_clips"])
        start, end = localise(model, query, corpus, order, settings)[:2]
        limits = spans["min_pred_clips"], spans["max_pred_clips"], DEPTH
        slot, first, last, score = best_spans(start, end, model.video_weights(scores), *limits)
        selected = order.gather(1, slot)[0].numpy()
        windows = np.array([candidate.window for candidate in candidates])[selected]
        offset, seconds = self.stored.offset[windows], self.stored.seconds[windows]
        numbers: dict[str, int] = {}
        videos = np.array(
            [numbers.setdefault(self._video(candidate), len(numbers)) for candidate in candidates], np.int64
        )[selected]
        best = {int(videos[at]): candidates[selected[at]] for at in reversed(range(len(selected)))}
        values = score[0].numpy()
        lists = Lists(
            np.where(values > 0, videos, NO_VIDEO)[None],
            (offset + first[0].numpy() * seconds)[None],
            (offset + (last[0].numpy() + model.decoded_end) * seconds)[None],
            values[None],
        )
        return suppress(lists, spans["nms_threshold"]), best

    def _gather_encoded(self, candidates: list[Candidate]) -> Encoded:
        """Windows in the format of `RetrievalModel.encode_videos`, on the CPU."""
        length, dim = self.encoder.context, self.stored.dim
        unit, localised = torch.zeros(2, len(candidates), length, dim)
        mask = torch.zeros(len(candidates), length, dtype=torch.bool)
        for row, one in enumerate(candidates):
            clips = self.stored.search_vectors(one.window)
            unit[row, : len(clips)] = torch.from_numpy(clips)
            pads = self.stored.localise_vectors(one.window)
            localised[row, : len(pads)] = torch.from_numpy(pads)
            mask[row, : len(clips)] = True
        return {"unit": unit, "localised": localised, "mask": mask}

    def _similar(self, query: np.ndarray, candidates: list[Candidate], top: int) -> list[Moment]:
        """One moment per window, from the cosines of clips alone, for windows that overlap the first."""
        moments: list[Moment] = []
        for candidate in candidates:
            if len(moments) == top:
                break
            cosines = self.stored.search_vectors(candidate.window) @ query
            first, last = window_around_best(cosines, self.manifest["spans"]["max_pred_clips"])
            offset, seconds = self.stored.offset[candidate.window], self.stored.seconds[candidate.window]
            start, end = offset + first * seconds, offset + (last + 1) * seconds
            moment = self._moment(candidate, start, end, candidate.score)
            if not any(self._overlapping(moment, other) for other in moments):
                moments.append(moment)
        return moments

    def _video(self, candidate: Candidate) -> str:
        return self._row_of(candidate)["video"]

    def _row_of(self, candidate: Candidate) -> dict:
        return self.stored.videos[self.stored.video[candidate.window]]

    def _moment(self, candidate: Candidate, start: float, end: float, score: float) -> Moment:
        row = self._row_of(candidate)
        last = row.get("duration") or end
        start, end = round(min(start, last), 3), round(min(end, last), 3)
        caption = self.captions.nearest(row["video"], start, end)
        return Moment(row["video"], start, end, score, candidate.score, caption, row.get("duration") or end)


def _checked(text: str) -> str:
    """A sentence without superfluous blanks. Raises InputError for an empty or too long one."""
    text = " ".join(text.split())
    if not text:
        raise InputError("an empty query", remedy="describe a moment, for example: a person opens the fridge")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"a query of {len(text)} characters", remedy=f"at most {LONGEST_QUERY}")
    return text


def vector_of(query: Encoded) -> np.ndarray:
    """The vector [D] for comparison with clips."""
    return query["unit"][0].numpy()


def window_around_best(similarity: np.ndarray, longest: int) -> tuple[int, int]:
    """First and last clip of the window around the best one whose clips are in the upper half between the mean and the
    best similarity [clips]; at most `longest` clips.
    """
    best = int(similarity.argmax())
    least = (similarity.mean() + similarity[best]) / 2
    first = last = best
    while last - first + 1 < longest:
        before = similarity[first - 1] if first > 0 else -np.inf
        after = similarity[last + 1] if last + 1 < len(similarity) else -np.inf
        if max(before, after) < least:
            break
        first, last = (first - 1, last) if before >= after else (first, last + 1)
    return first, last


MODEL = "model.safetensors"
"""The copy of the checkpoint in a build."""


def encoder_of(build: Path, manifest: dict) -> Encoder:
    """The encoder that a build was made with."""
    if manifest["model"] == JOINT:
        return JointEncoder(manifest["text_encoder"])
    sound(build.parent, f"{build.name}/{MODEL}")
    return ModelEncoder(build / MODEL, manifest["text_encoder"], manifest["spans"]["max_pred_clips"])
