"""Movies of the demo: minutes of events, each with its full true caption; for some, a described sound track.

The ground truth is written next to them (`truth.json`): the delay of each description, which was made for another cut,
and the events that a voice covers, or that the description begins too late for. Only tests and the table of the
collection read it.
"""

import json
import random
from datetime import timedelta
from pathlib import Path

import numpy as np
import srt  # pyright: ignore[reportMissingTypeStubs] (it has none)

from verified.demo.full_captions import describe, word
from verified.demo.scenes import facts, make_scenes
from verified.demo.source import assign_splits, render_scenes, write_video
from verified.io.files import atomic_path, write_text
from verified.io.sound import wave_bytes
from verified.runtime.progress import track
from verified.runtime.seeds import derive_seed, generator
from verified_longform.annotations import write_mad

TRACK_RATE = 1000
"""Samples per second of the rendered tracks."""
MOST_DELAY = 20
INSERTED = 3.0
"""Seconds of the scene that descriptions for another cut have in their middle."""
LINES = ("Where have you been?", "I told you so.", "Not now, please.", "We should go.", "Who is there?")
SOUNDS = ("[a door slams]", "(thunder)", "[MUSIC FADES]")


def render_movies(source: dict, fps: int, seed: int, folder: str | Path) -> None:
    """Write videos/, tracks/, manifest.csv (movies of train), val.json, test.json and truth.json below `folder`."""
    folder = Path(folder)
    names = [f"film-{number:02d}" for number in range(1, source["movies"] + 1)]
    splits = assign_splits(names, source["train_share"], source["val_share"], derive_seed(seed, "longform"))
    rows: dict[str, list[dict]] = {"train": [], "val": [], "test": []}
    other_cuts = [name for name in names if splits[name] == "train"][: source["refused"]]
    truth, manifest = {}, ["movie,track,described,transcript,subtitles,split"]
    for name in track(names, "movies", len(names), "movies"):
        rng = random.Random(derive_seed(seed, "longform film", name))
        seconds = rng.randint(source["shortest"], source["longest"])
        scenes = make_scenes(derive_seed(seed, "longform"), name, seconds, fps)
        frames = render_scenes(scenes, source["size"], derive_seed(seed, "longform noise", name))
        write_video(folder / "videos" / f"{name}.mp4", frames, fps)
        events = []
        for number, event in enumerate(scenes.events):
            sentence = word(describe(facts(event, fps), rng), rng.getrandbits(32))
            sentence = f"{sentence[0].upper()}{sentence[1:]}."
            span = {"start": event.first / fps, "end": event.last / fps}
            events.append(
                {
                    "id": f"{name}-{number:04d}",
                    "movie": name,
                    "sentence": sentence,
                    "duration": float(seconds),
                    **span,
                    "split": splits[name],
                }
            )
        rows[splits[name]] += events
        if splits[name] == "train":
            files = [f"tracks/{name}{ending}" for ending in (".wav", ".described.wav", ".json", ".srt")]
            manifest.append(",".join([name, *files, "train"]))
            truth[name] = _describe_movie(events, seconds, name in other_cuts, seed, name, [folder / f for f in files])
    for split in ("val", "test"):
        write_mad(folder / f"{split}.json", rows[split])
    write_text(folder / "manifest.csv", "\n".join(manifest) + "\n")
    write_text(folder / "truth.json", json.dumps(truth, indent=1) + "\n")


def _describe_movie(events: list[dict], seconds: int, other_cut: bool, seed: int, name: str, paths: list[Path]) -> dict:
    """Write the movie's track, the described one, its transcript and the subtitles; returns the planted truth."""
    random = generator(seed, "longform track", name)
    movie_sound = _sound(random, seconds)
    delay = int(random.integers(-MOST_DELAY * TRACK_RATE, MOST_DELAY * TRACK_RATE + 1))
    described = _delay(movie_sound, delay)
    if other_cut:
        middle = len(described) // 2
        inserted = _sound(random, INSERTED)
        described = np.concatenate([described[:middle], inserted, described[middle:]])
    subtitles, segments, voiced = [], [], []
    for event in events:
        draw = random.random()
        start, end = event["start"], event["end"]
        text = event["sentence"]
        shift = delay / TRACK_RATE + float(random.normal(0, 0.1))  # narrators are not exact
        if end + shift <= 0.5:  # the description begins later than this
            voiced.append(event["id"])
            continue
        segments.append(_segment(text, max(0.0, start + shift), end + shift))
        first, last = (round(max(0.0, moment + shift) * TRACK_RATE) for moment in (start, end))
        described[first:last] += 0.2 * random.normal(size=len(described[first:last]))
        if draw < 0.15:
            line = f"<i>{LINES[int(random.integers(len(LINES)))]}</i>" if draw < 0.12 else "♪ la la la ♪"
            subtitles.append((start + 0.2, end - 0.2, line))
            segments.append(_segment(LINES[0], max(0.0, start + shift), end + shift))
            voiced.append(event["id"])
        elif draw < 0.2:
            subtitles.append((start, end, SOUNDS[int(random.integers(len(SOUNDS)))]))
    write_wave(paths[0], movie_sound, TRACK_RATE)
    write_wave(paths[1], described, TRACK_RATE)
    write_text(paths[2], json.dumps({"segments": segments}) + "\n")
    cues = (
        srt.Subtitle(None, timedelta(milliseconds=round(1000 * start)), timedelta(milliseconds=round(1000 * end)), text)
        for start, end, text in subtitles or [(0.0, 0.1, SOUNDS[0])]
    )
    write_text(paths[3], srt.compose(cues))
    return {"delay": delay / TRACK_RATE, "other_cut": other_cut, "spoken_over": voiced, "events": events}


def _sound(random: np.random.Generator, seconds: float) -> np.ndarray:
    """Noise of changing colour and loudness."""
    samples = round(seconds * TRACK_RATE)
    noise = random.normal(size=samples)
    dull = np.convolve(noise, np.ones(8) / 8, mode="same")
    loud = np.repeat(random.uniform(0.3, 1.0, samples // TRACK_RATE + 1), TRACK_RATE)[:samples]
    return 0.25 * loud * (0.3 * noise + dull)


def _delay(samples: np.ndarray, delay: int) -> np.ndarray:
    """The samples `delay` later, with silence in front; earlier where negative, the beginning cut off."""
    return np.concatenate([np.zeros(delay), samples]) if delay >= 0 else samples[-delay:].copy()


def _segment(text: str, start: float, end: float) -> dict:
    words = text.split()
    edges = np.linspace(start, end, len(words) + 1).round(3).tolist()
    return {
        "start": edges[0],
        "end": edges[-1],
        "text": text,
        "words": [{"word": f" {text}", "start": a, "end": b} for text, a, b in zip(words, edges, edges[1:])],
    }


def write_wave(path: Path, samples: np.ndarray, rate: int) -> None:
    """Write float samples [n] in [-1, 1] as 16-bit mono WAV."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(wave_bytes(samples, rate))
