"""Files of movies without a fault, and their readers (see tests/whole_files.py)."""

from pathlib import Path

import numpy as np
from query_rows import query_row

from verified.io.jsonl import write_json, write_jsonl
from verified_longform.annotations import write_mad
from verified_longform.collection import collect_part
from verified_longform.config import Collection
from verified_longform.demo_movies import write_wave
from verified_longform.manifest import ALL
from verified_longform.transcripts import read_transcript, read_voices, sentences, voice_activity


def longform_files(folder):
    rows = [query_row(n, f"f{n % 2}", 10.0 * n, 10.0 * n + 4, "test", 600.0) for n in range(1, 7)]
    write_mad(folder / "mad.json", rows)
    spans = [{"id": str(n), "spans": [[0.0, 1.0], [10.0 * n, 10.0 * n + 4]]} for n in range(1, 7)]
    write_jsonl(folder / "spans.jsonl", spans)
    return [
        ["evaluate", "mad.json", "spans.jsonl", "--iou-cmp", "gt"],
        ["compare", "mad.json", "spans.jsonl", "again=spans.jsonl", "--output", "out"],
    ]


def transcript_files(folder):
    """Described movies with what is said in them in every form: a table of files, and the files."""
    tone = np.sin(np.arange(8 * 1000) / 7) * np.random.default_rng(0).normal(size=8000)
    for name in ("movie", "described"):
        write_wave(folder / f"{name}.wav", (tone / 5).astype(np.float32), 1000)
    words = [
        {"word": word, "start": number, "end": number + 0.5} for number, word in enumerate(("A", "door", "opens."))
    ]
    segment = {"start": 0.0, "end": 2.5, "text": "A door opens."}
    write_json(folder / "whisper.json", {"segments": [{**segment, "words": words}, segment]})
    times = {"offsetInTicks": 10_000_000, "durationInTicks": 5_000_000}
    best = {"display": "Door opens.", "words": [{"word": word, **times} for word in ("door", "opens")]}
    write_json(folder / "azure.json", {"recognizedPhrases": [{"nBest": [best]}]})
    (folder / "said.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    rows = [f"{number},movie.wav,described.wav,{file},said.vtt,test" for number, file in enumerate(HEARD)]
    (folder / "movies.csv").write_text("\n".join(["movie,track,described,transcript,subtitles,split", *rows, ""]))
    return [collect_movies, read_all_that_is_said]


def collect_movies():
    """As the job of a movie does."""
    settings = Collection(rate=1000, window_seconds=2, most_seconds=1)
    write_json("collected.json", collect_part(Path("movies.csv"), ALL, settings))


HEARD = ("whisper.json", "azure.json", "said.vtt")


def read_all_that_is_said():
    """As the collection of movies and the filters of moments do."""
    for name in HEARD:
        sentences(read_transcript(name))
    for name in ("whisper.json", "said.vtt"):
        voice_activity(read_voices(name))


KINDS = (longform_files, transcript_files)
