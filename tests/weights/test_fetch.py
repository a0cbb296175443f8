"""Fetching models: the lock binds, hashes are checked, downloads resume, errors name the remedy."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback_hub import serving
from refusals import refused

from verified.config import load
from verified.config.generation import Generation
from verified.config.model import Weights
from verified.weights.fetch import fetch_model, fetch_umt, needed_files, size_of
from verified.weights.records import Wanted, locate_models, pin_models, read_lock, read_records, source_of
from verified.weights.wanted import agreement_records, model_records, role_records, text_records, video_records

LARGE = bytes(range(256)) * 400
FILES = {"config.json": b"{}", "model.safetensors": LARGE, "pytorch_model.bin": LARGE, "README.md": b"x"}
MODEL = Wanted("org/model")


@pytest.fixture(scope="module")
def hub():
    """One for all tests: the client reads the address once."""
    with serving() as server:
        yield server


@pytest.fixture
def weights(tmp_path) -> Weights:
    return Weights(folder=str(tmp_path / "models"), lock=str(tmp_path / "lock.json"))


def test_the_first_fetch_locks_and_the_lock_binds(hub, weights):
    first = hub.publish("org/model", FILES)
    record = fetch_model(MODEL, weights)
    assert record["commit"] == first and set(record["files"]) == {"config.json", "model.safetensors"}
    assert Path(record["folder"], "model.safetensors").read_bytes() == LARGE
    assert read_lock(weights.lock)["models"]["org/model"]["commit"] == first
    newer = hub.publish("org/model", {**FILES, "config.json": b'{"newer": true}'})
    old, new = (Wanted("org/model", commit) for commit in (first, newer))
    assert [fetch_model(wanted, weights)["commit"] for wanted in (old, new)] == [first, newer]
    assert set(read_lock(weights.lock)["models"]) == {"org/model", f"org/model@{first}", f"org/model@{newer}"}
    before = len(hub.asked)
    assert fetch_model(MODEL, weights) == record
    assert len(hub.asked) == before, "what is locked and at hand needs no network"
    elsewhere = weights.model_copy(update={"folder": weights.folder + "-2"})
    assert fetch_model(MODEL, elsewhere)["commit"] == first, "another machine with this lock gets the same commit"
    assert Path(fetch_model(MODEL, elsewhere)["folder"], "config.json").read_bytes() == b"{}"


def test_a_broken_file_is_fetched_again(hub, weights):
    hub.publish("org/broken", FILES)
    folder = Path(fetch_model(Wanted("org/broken"), weights)["folder"])
    (folder / "model.safetensors").resolve().write_bytes(LARGE[:-1] + b"!")
    fetch_model(Wanted("org/broken"), weights)
    assert (folder / "model.safetensors").read_bytes() == LARGE


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_bytes_that_are_not_the_published_ones_are_refused(hub, weights, name):
    wanted = Wanted(f"org/lies-{name.split('.')[0]}")
    hub.publish(wanted.name, FILES)
    hub.lies[name] = FILES[name][:-1] + b"?"
    try:
        with refused("bytes", wanted.name):
            fetch_model(wanted, weights)
    finally:
        hub.lies.clear()
    assert wanted.key not in read_lock(weights.lock)["models"]
    assert fetch_model(wanted, weights)["commit"]


def test_a_killed_download_goes_on_where_it_was(hub, weights, tmp_path):
    size = 40_000_000
    hub.publish("org/long", {"config.json": b"{}", "model.safetensors": bytes(size)})
    hub.stalls["model.safetensors"] = 1
    code = (
        "from verified.weights.fetch import fetch_model; from verified.weights.wanted import Wanted;"
        "from verified.config.model import Weights;"
        f"fetch_model(Wanted('org/long'), Weights(folder={weights.folder!r}, lock={weights.lock!r}))"
    )
    lost = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "scripts"})
    deadline = time.monotonic() + 300
    while not any(partial.stat().st_size > 5_000_000 for partial in Path(weights.folder).rglob(".*.part")):
        assert lost.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    lost.send_signal(signal.SIGKILL)
    lost.wait()
    before = len(hub.asked)
    record = fetch_model(Wanted("org/long"), weights)
    assert Path(record["folder"], "model.safetensors").stat().st_size == size
    asked = [again for method, path, again in hub.asked[before:] if method == "GET" and path.endswith(".safetensors")]
    assert asked and asked[0] and not asked[0].startswith("bytes=0-")


def test_jobs_load_the_locked_commit_and_nothing_else(tmp_path, weights):
    folder = tmp_path / "hub" / "org" / "model"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(LARGE)
    record = fetch_model(MODEL, weights.model_copy(update={"hub": str(tmp_path / "hub")}))
    file = tmp_path / "record.json"
    file.write_text(json.dumps(record))
    generation = Generation(llm={"engine": "transformers", "model": "org/model"})
    llm = locate_models(generation, [file]).llm
    assert (llm.folder, llm.revision, llm.model) == (str(folder), record["commit"], "org/model")
    assert pin_models(generation, weights.lock).llm.revision == record["commit"]
    assert source_of("org/model", "", [file]) == (str(folder), record["commit"])
    assert source_of("small-resnet", "", []) == ("small-resnet", "")
    (folder / "config.json").write_bytes(b"{}")
    (tmp_path / "hub/org/model-2").mkdir()
    (tmp_path / "hub/org/model-2/model.safetensors").write_bytes(LARGE[::-1])
    local = weights.model_copy(update={"hub": str(tmp_path / "hub"), "lock": str(tmp_path / "lock-2.json")})
    commits = {fetch_model(wanted, local)["commit"] for wanted in (Wanted("org/model-2"), MODEL)}
    assert record["commit"] not in commits and len(commits) == 2, "other files, or other bytes of the same size"
    assert set(read_lock(local.lock)["models"]) == {"org/model", "org/model-2"} and size_of(MODEL, local) == 102402
    with refused("other/model", "verified fetch"):
        source_of("other/model", "", [file])


@pytest.mark.parametrize(
    "names, needed",
    [
        (["model.safetensors", "pytorch_model.bin", "tf_model.h5", "README.md"], ["model.safetensors"]),
        (
            ["pytorch_model.bin", "optimizer.bin", "flax_model.msgpack", "vocab.json"],
            ["pytorch_model.bin", "vocab.json"],
        ),
        (
            ["model-00001-of-00002.safetensors", "consolidated.safetensors", "onnx/model.onnx", "tokenizer.model"],
            ["model-00001-of-00002.safetensors", "tokenizer.model"],
        ),
    ],
)
def test_one_form_of_the_weights_is_enough(names, needed):
    assert needed_files(names) == needed


def test_umt_is_pinned_by_its_first_bytes(hub, weights, tmp_path):
    commit = hub.publish("umt/zoo", {"l16_25m.pth": LARGE})
    url = f"{hub.url}/umt/zoo/resolve/{commit}/l16_25m.pth"
    base = {"datasets": {"d": {"title": "d", "source": {"kind": "demo"}}}}
    evaluator = load({**base, "evaluator": {"umt_file": str(tmp_path / "umt" / "l.pth"), "umt_url": url}}).evaluator
    fetched = fetch_umt(evaluator, weights.lock, pause=0.01)
    assert Path(evaluator.umt_file).read_bytes() == LARGE and fetched["bytes"] == len(LARGE)
    assert set(read_lock(weights.lock)["files"]) == {url}
    Path(evaluator.umt_file).unlink()
    hub.lies["l16_25m.pth"] = LARGE[:-1] + b"!"
    with refused("lock.json", remedy=True):
        fetch_umt(evaluator, weights.lock, pause=0.01)
    hub.lies.clear()
    assert not Path(evaluator.umt_file).exists()
    fetch_umt(evaluator, weights.lock, pause=0.01)
    other = evaluator.model_copy(update={"umt_sha256": "0" * 64})
    with refused("evaluator.umt_sha256", remedy=True):
        fetch_umt(other, weights.lock)


def test_each_model_has_the_record_of_its_own_revision_or_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("reads", "packaged-joint"):
        Path(folder).mkdir()
    features = {"video_backbone": "o/see", "video_revision": "v", "text_encoder": "o/read", "text_revision": "t"}
    annotations = {"choose_by": "agreement", "joint_encoder": "o/join", "joint_revision": "j"}
    roles = {role: {"engine": "vllm", "model": f"o/{role}"} for role in ("llm", "image_lmm")}
    base = {"name": "mine", "datasets": {"d": {"title": "d", "source": {"kind": "demo"}}}}
    settings = load({**base, "features": features, "annotations": annotations, "generation": roles})
    found = video_records(settings) + text_records(settings) + agreement_records(settings)
    found += role_records(settings, "llm", "image_lmm")
    names = ("o--see@v", "o--read@t", "o--join@j", "o--image_lmm", "o--llm")
    assert [Path(file).stem for file in found] == [*names]
    for encoder, files in (("reads", ["reads"]), ("all-MiniLM-L6-v2", []), ("./gone", []), ("packaged-joint", [])):
        assert model_records(settings, encoder, "") == files and read_records(files) == {}
