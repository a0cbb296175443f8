"""A small corpus with a planted signal: the clips of a moment encode the words of its query."""

from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
import torch
from given import fig

from verified.benchmark.vcmr.contract import ModelConfig, RetrievalModel
from verified.benchmark.vcmr.data import Queries, Videos, read_moments
from verified.benchmark.vcmr.registry import model_class
from verified.benchmark.vcmr.search import SearchSettings
from verified.benchmark.vcmr.training import SplitData, train
from verified.io.hdf5 import FeatureFile, Room, write_features
from verified.io.jsonl import read_jsonl, write_jsonl

COLOURS = ("red", "green", "blue", "pink", "grey", "black", "white", "orange")
SHAPES = ("ball", "box", "star", "ring", "cross", "cube", "disc", "arrow")
VERBS = ("rises", "falls", "turns", "grows", "shrinks", "waits", "rolls", "hides")
WORDS = COLOURS + SHAPES + VERBS
CLIPS, VIDEO_DIM, TEXT_DIM, TOKENS = 16, 24, 20, 6


@dataclass
class Planted:
    annotations: Path
    video: Path
    text: Path

    def split(self, model: type[RetrievalModel], clips: int = CLIPS) -> SplitData:
        """The split in the form that `model` asks for."""
        moments = read_moments(self.annotations, "fig")
        videos = Videos(FeatureFile(self.video), moments.videos, model, clips, 1.0, room=Room(1 << 26))
        return SplitData(
            moments, videos, Queries(moments, model, TOKENS, FeatureFile(self.text), ids=token_ids, room=Room(1 << 26))
        )


def token_ids(captions: list[str]) -> list[list[int]]:
    """0 for [CLS], then a number per word."""
    return [[0, *(1 + WORDS.index(word) for word in caption.split())] for caption in captions]


def plant(folder: Path, videos: int, events: int = 3, seed: int = 0) -> Planted:
    """Write `videos` videos of 10 to 16 clips with `events` moments each, one after the other.

    Each moment is named by two words and a verb; a clip is the sum of the vectors of its moment's words, and noise. The
    vectors are the same for all splits, which share their meaning.
    """
    meaning, draw = np.random.default_rng(7), np.random.default_rng(seed)
    seen = meaning.normal(size=(len(WORDS), VIDEO_DIM))
    read = meaning.normal(size=(len(WORDS), TEXT_DIM))
    rows, clips, tokens = [], [], []
    for number in range(videos):
        video, length = f"video{seed:02d}-{number:03d}", int(draw.integers(10, CLIPS + 1))
        features = 0.3 * draw.normal(size=(length, VIDEO_DIM))
        bounds = np.sort(draw.choice(np.arange(2, length, 2), events - 1, replace=False))
        for start, end in zip([0, *bounds], [*bounds, length]):
            words = [draw.integers(0, 8), draw.integers(8, 16), draw.integers(16, 24)]
            features[start:end] += seen[words].sum(axis=0)
            desc_id = 1000 * seed + len(rows)
            caption = " ".join(WORDS[word] for word in words)
            said = {"cog_desc": caption, "fig_desc": caption, "fig_desc_score": 0.5}
            rows.append(fig(desc_id, video, float(start), float(end), duration=float(length), **said))
            vectors = read[words] + 0.1 * draw.normal(size=(3, TEXT_DIM))
            tokens.append((str(desc_id), vectors.astype(np.float16), {}))
        clips.append((video, features.astype(np.float16), {}))
    planted = Planted(folder / f"fig-{seed}.jsonl", folder / f"video-{seed}.h5", folder / f"text-{seed}.h5")
    write_jsonl(planted.annotations, rows)
    write_features(planted.video, {"dim": VIDEO_DIM}, clips)
    write_features(planted.text, {"dim": TEXT_DIM}, tokens)
    return planted


def write_highlights(folder: Path) -> None:
    """Two splits in QVHighlights' form, every third query with three windows, and features of clips of two seconds."""
    folder.mkdir()
    splits = {"train": plant(folder, 30, seed=1), "val": plant(folder, 12, seed=2)}
    for split, files in splits.items():
        rows = []
        for number, row in enumerate(read_jsonl(files.annotations)):
            start, end, seconds = (2 * value for value in (*row["time"], row["duration"]))
            windows = [[start, end], [0, 3], [seconds - 2, seconds]][: 3 if number % 3 == 0 else 1]
            values = {"qid": row["desc_id"], "query": row["cog_desc"], "duration": seconds, "vid": row["video"]}
            rows.append(values | {"relevant_windows": windows})
        write_jsonl(folder / f"{split}.jsonl", rows)
    merge(folder / "video.h5", *(files.video for files in splits.values()))
    merge(folder / "text-cog.h5", *(files.text for files in splits.values()))


def write_reader(file: Path) -> None:
    """A model of a second stream of video features, in a file that is called by its name."""
    text = (Path(__file__).parents[1] / "examples" / "mean_pooling.py").read_text(encoding="utf-8")
    text = text.replace('"mean_pooling"', f'"{file.stem}"').replace(
        "    Config =", "    second_stream = True\n    Config ="
    )
    file.write_text(text, encoding="utf-8")


def merge(target: Path, *sources: Path) -> None:
    with h5py.File(target, "w") as out:
        for source in sources:
            with h5py.File(source) as file:
                out.attrs.update(file.attrs)
                for key in file:
                    out[key] = file[key][()]


def small_model(name: str, **options) -> RetrievalModel:
    cls = model_class(name)
    sizes = {"video_dim": VIDEO_DIM, "text_dim": TEXT_DIM, "context_clips": CLIPS, "query_tokens": TOKENS}
    assert issubclass(cls.Config, ModelConfig)
    return cls(cls.Config(**{**sizes, "vocabulary": 1 + len(WORDS), **cls.small, **options}))


def check_learning(name: str, epochs: int, splits, folder: Path) -> None:
    """Train a small model on the first of `splits`, and assert that it finds the words of the second."""
    torch.manual_seed(0)
    model = small_model(name)
    learn, unseen = (files.split(type(model)) for files in splits)
    recipe = replace(model.recipe, epochs=epochs, steps=None, batch=16, learning_rate=2e-3)
    searching = SearchSettings(min_pred_clips=1, max_pred_clips=12, quiet=True)
    result = train(model, learn, unseen, recipe, searching, 3, folder / "log.jsonl")
    best = result.history[result.epoch]
    assert result.history[-1]["total"] < 0.6 * result.history[0]["total"]
    assert best["VR/r1"] > 30  # by chance 5
    assert best["SVMR/0.5/r1"] > 40  # by chance about 15
