"""A shard gets more videos: its jobs decode these alone, and write the bytes of jobs that decode all of them."""

import shutil
from pathlib import Path

import av
import pytest
from feature_settings import video_features
from media import scenes, write_video
from script_run import script_run

from verified.config.datasets import Keyframes, Proposals
from verified.config.features import OF_VIDEO
from verified.config.params import deciding
from verified.io.jsonl import write_json, write_jsonl
from verified.runtime.previous_output import FOLDER

pytestmark = pytest.mark.slow

HERE = "results/kitchen"
OUTPUTS = {
    "probe_videos": [f"corpus/shards/shard-00.{name}.jsonl" for name in ("probes", "moments", "videos")],
    "extract_keyframes": ["keyframes/shard-00.tar"],
    "extract_video_features": ["features/video/shard-00.h5"],
    "gather_clips": ["evaluator/clips/shard-00.npy", "evaluator/clips/shard-00.jsonl"],
    "gather_streams": ["evaluator/clips/shard-00.h264", "evaluator/clips/shard-00.jsonl"],
    "detect_scenes": ["corpus/scenes/shard-00.jsonl"],
}
JOBS = list(OUTPUTS)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos").mkdir()
    for number in range(5):
        write_video(tmp_path / "videos" / f"v{number}.mp4", scenes([8, 9], seed=number))
    return tmp_path


@pytest.fixture
def opened(monkeypatch):
    names, open_file = [], av.open

    def opening(file, *arguments, **options):
        names.append(Path(str(file)).stem)
        return open_file(file, *arguments, **options)

    monkeypatch.setattr(av, "open", opening)
    return names


def write_moments(videos: list[str], end: float = 2.0) -> None:
    rows = [(video, start) for video in videos for start in (0.0, 1.0)]
    write_jsonl(
        "moments.jsonl",
        [{"video": video, "start": start, "end": end, "caption": f"{video} {start}"} for video, start in rows],
    )
    write_json("scenes.json", videos)


def run(job: str, **changed: object) -> dict[str, bytes]:
    """A job of one shard, after Snakemake's removal of what it wrote before; the bytes that it writes."""
    outputs = [Path(HERE, name) for name in OUTPUTS[job]]
    for path in outputs:
        path.unlink(missing_ok=True)
    shard = {"shards": 1, "code": "1"}
    probed = {name: f"{HERE}/corpus/shards/shard-00.{name}.jsonl" for name in ("moments", "videos")}
    first, *more = map(str, outputs)
    clips = {"frames": 4, "frames_per_interval": 1, "image_size": 32, "clip_side": {"gather_streams": 32}.get(job)}
    gathering = {"clips": clips, "keep": True}
    given = {"videos": "videos", "moments": "moments.jsonl"}
    probing = {"source": {"default_split": "train", "published": False}, "rows": Path("moments.jsonl").read_text()}
    written = {"probes": first, **dict(zip(("moments", "videos"), more))}
    names = sorted(path.name for path in Path("videos").iterdir())
    cutting, keyframes = {"proposals": deciding(Proposals()), "videos": names}, {"settings": deciding(Keyframes())}
    seen = {"videos": probed["videos"], "weights": [], "network": []}
    seeing = {"features": deciding(video_features("small-resnet", batch=7), OF_VIDEO), "clip_seconds": 1.0}
    described = {
        "probe_videos": ("corpus/probe_videos.py", given, written, probing),
        "detect_scenes": ("corpus/detect_scenes.py", {"videos": "videos"}, {"scenes": first}, cutting),
        "extract_keyframes": ("keyframes/extract.py", probed, {"keyframes": first}, keyframes),
        "extract_video_features": ("features/extract_video.py", seen, {"features": first}, seeing),
        "gather_clips": ("evaluator/gather_clips.py", probed, {"clips": first, "index": (more or [""])[0]}, gathering),
    }
    path, inputs, output, params = described[job.replace("streams", "clips")]
    params = {**shard, **params, **changed}
    script_run(path, job, inputs, output, params, {"dataset": "kitchen", "shard": "shard-00"})()
    return {path.name: path.read_bytes() for path in outputs}


def as_before(job: str, **changed: object) -> dict[str, bytes]:
    """What the job writes where nothing earlier is there."""
    for folder in list(Path(HERE).rglob(FOLDER)):
        shutil.rmtree(folder)
    return run(job, **changed)


def grow(folder: Path) -> list[str]:
    """Three more videos, one of which comes before all others, and rows above those that were there."""
    names = ["a-first", "v5", "v6"]
    for number, name in enumerate(names):
        write_video(folder / "videos" / f"{name}.mp4", scenes([8, 9], seed=20 + number))
    write_moments([*names, *(f"v{number}" for number in range(5))])
    return names


@pytest.mark.parametrize("job", JOBS)
def test_three_added_videos_are_three_decoded_videos(corpus, opened, job):
    write_moments([f"v{number}" for number in range(5)])
    run("probe_videos")
    run(job)
    new = grow(corpus)
    if job != "probe_videos":
        run("probe_videos")
    opened.clear()
    grown = run(job)
    assert set(opened) == set(new), opened
    opened.clear()
    assert run(job) == grown and not opened, "a job that runs again decodes nothing"
    assert as_before(job) == grown and len(set(opened)) == 8


def test_changed_videos_and_moments_are_decoded(corpus, opened):
    write_moments([f"v{number}" for number in range(5)])
    for job in JOBS[:2]:
        run(job)
    write_video(corpus / "videos" / "v1.mp4", scenes([9, 8], seed=99))
    opened.clear()
    run("probe_videos")
    assert opened == ["v1"]
    opened.clear()
    run("extract_keyframes")
    assert set(opened) == {"v1"}
    write_moments([f"v{number}" for number in range(5)], end=1.5)
    run("probe_videos")
    opened.clear()
    grown = run("extract_keyframes")
    assert len(set(opened)) == 5, "other spans have other keyframes"
    assert as_before("extract_keyframes") == grown


@pytest.mark.parametrize("damage", ["file", "note", "cut", "link gone"])
@pytest.mark.parametrize("job", ["extract_keyframes", "extract_video_features", "gather_clips"])
def test_a_damaged_earlier_output_is_not_used(corpus, opened, job, damage, caplog):
    write_moments([f"v{number}" for number in range(5)])
    run("probe_videos")
    right = run(job)
    output = Path(HERE, OUTPUTS[job][0])
    link = output.parent / FOLDER / output.name
    note = link.with_name(f"{output.name}.json")
    path = note if damage in ("note", "cut") else link
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    if damage != "link gone":
        path.write_bytes(content[: len(content) // 2] if damage == "cut" else content)
    opened.clear()
    assert run(job) == right and len(set(opened)) == 5
    opened.clear()
    assert run(job) == right and not opened, "it was made anew"
