"""The index: the benchmark's own results, videos that come and go."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from feature_settings import text_features
from given import coarse_only
from refusals import refused
from small_index import CONTEXT, SPANS, random_videos, write_corpus, write_video_features
from starlette.testclient import TestClient

from verified.benchmark.lists import suppress
from verified.benchmark.vcmr.checkpoint import load_model, save_model
from verified.benchmark.vcmr.data import Queries, Videos, load_tokeniser, read_moments
from verified.benchmark.vcmr.search import SearchSettings, encode_corpus, search
from verified.config import load
from verified.config.datasets import Spans
from verified.extension import extensions
from verified.io.hdf5 import FeatureFile, write_features
from verified.runtime.checksums import write_checksums
from verified_search.ask import Index
from verified_search.encoders import ModelEncoder, Vectors
from verified_search.jobs import index_folder, index_inputs
from verified_search.serve import application
from verified_search.store import present
from verified_search.update import update
from verified_search.windows import Windows, write_windows

EXTENSION = next(one for one in extensions() if one.name == "search")


def benchmark(files: dict, halves: bool):
    """Final VCMR lists of the retrieval stage; `halves`: with the corpus' encodings rounded as the index holds them."""
    model, _ = load_model(files["checkpoint"])
    moments = read_moments(files["annotations"][0], "fig")
    videos = Videos(FeatureFile(files["features"]), moments.videos, type(model), CONTEXT, 1.0)
    ids = load_tokeniser("all-MiniLM-L6-v2") if model.query_input == "ids" else None
    queries = Queries(moments, type(model), 8, FeatureFile(files["text"]), ids)
    settings = SearchSettings(SPANS["min_pred_clips"], SPANS["max_pred_clips"], quiet=True)
    corpus = encode_corpus(model, videos, settings)
    if halves:
        corpus = {name: part if part.dtype == torch.bool else part.half().float() for name, part in corpus.items()}
    found = search(model, videos, queries, moments, settings, corpus=corpus)
    return moments, suppress(found["VCMR"], SPANS["nms_threshold"])


def asked(index: Index, files: dict, moments, row: int):
    encoder = index.encoder
    if encoder.model.query_input == "ids":
        query = encoder.query(moments.caption[row])
    else:
        query = encoder.query_of_features(FeatureFile(files["text"])[str(moments.desc_id[row])])
    return index.moments(query, index.candidates(query["unit"][0].numpy(), 100), 20)


@pytest.mark.parametrize("model", ["xml", "reloclnet", "hero"])
def test_the_index_finds_what_the_benchmark_finds(model, tmp_path):
    # ReLoCLNet pools long videos as its benchmark does; the others would be cut there and are not here.
    videos = random_videos(40, longest=CONTEXT + 9 if model == "reloclnet" else CONTEXT)
    files, settings = write_corpus(tmp_path, videos, model)
    update(tmp_path / "index", files, settings)
    index = Index(tmp_path / "index")
    moments, lists = benchmark(files, halves=True)
    _, unrounded = benchmark(files, halves=False)
    for row in range(len(moments)):
        found = asked(index, files, moments, row)
        assert [one.video for one in found] == [moments.videos[at] for at in lists.video[row, : len(found)]]
        lasts = [len(videos[one.video]) for one in found]
        ends = np.minimum(lists.end[row, : len(found)], lasts)  # the index shows no time behind the end
        assert np.allclose([one.start for one in found], np.minimum(lists.start[row, : len(found)], lasts), atol=1e-3)
        assert np.allclose([one.end for one in found], ends, atol=1e-3)
        assert np.allclose([one.score for one in found], lists.score[row, : len(found)], rtol=1e-4)
        assert found[0].score == pytest.approx(unrounded.score[row, 0], rel=2e-2)


def test_an_index_of_coarse_captions_alone_rests_on_a_training_on_these(tmp_path):
    settings = load(coarse_only(tmp_path, models=["conquer", "hero"], seeds=[3]))
    inputs = index_inputs(settings, SimpleNamespace(dataset="given/mine", indexed="hero"))
    assert inputs["checkpoint"] == "results/given/mine/retrieval/hero/cog/seed-3/checkpoint.safetensors"
    assert inputs["text"] == "results/given/mine/features/text-cog.h5"
    assert inputs["queries"] == inputs["annotations"][1:]
    assert inputs["annotations"][0] == "results/given/mine/annotations/cog/train.jsonl"


def test_given_features_are_searched_only_by_the_encoder_that_their_file_names(tmp_path):
    values = coarse_only(tmp_path, models=["xml", "hero"])
    for model, file, key, encoder in (
        ("xml", "text-cog.h5", "text_encoder", "all-MiniLM-L6-v2"),
        ("joint", "video.h5", "video_backbone", "packaged"),
    ):
        settings = load(values | {"search": {"model": model}})
        for writer in ({}, {"backbone": "clip"}):
            write_features(tmp_path / file, {"dim": 3, **writer}, [("4", np.ones((2, 3), np.float16), {})])
            with refused(f"features.{key}", encoder, *writer.values(), file=tmp_path / file, remedy=True):
                index_folder(settings)
            with refused(f"features.{key}", file=tmp_path / file):
                index_inputs(settings, SimpleNamespace(dataset="given/mine", indexed=model))
            assert EXTENSION.next_commands(settings) == {}
        write_features(tmp_path / file, {"dim": 3, "backbone": encoder}, [("4", np.ones((2, 3), np.float16), {})])
        assert index_folder(settings).name == model and "verified index" in str(EXTENSION.next_commands(settings))
    (tmp_path / "text-cog.h5").unlink()
    assert index_folder(load(values | {"search": {"model": "hero"}})).name == "hero"  # it reads ids of tokens
    del values["datasets"]["mine"]["source"]["features_dir"]
    with refused("mine", remedy=True):
        index_folder(load(values))


def test_a_video_beyond_the_models_context_is_searched_to_its_end(tmp_path):
    videos = random_videos(6)
    videos["v0000"] = np.random.default_rng(9).normal(size=(3 * CONTEXT + 5, videos["v0001"].shape[1]))
    files, settings = write_corpus(tmp_path, videos)
    update(tmp_path / "index", files, settings)
    index = Index(tmp_path / "index")
    places = index.windows("v0000")
    stored = index.stored
    assert stored.offset[places[0]] == 0 and len(places) > 3
    ends = [stored.offset[window] + stored.clips[window] for window in places]
    begins = [stored.offset[window] for window in places]
    assert max(ends) == 3 * CONTEXT + 5
    assert all(begin < end for begin, end in zip(begins[1:], ends))  # they overlap: no moment is cut in two
    own = [one.start for one in index.like("v0000", 0.0, 2.0, top=9).moments if one.video == "v0000"]
    assert own and min(own) >= 2, "elsewhere in the same video"


def test_videos_come_and_go_and_the_others_are_not_encoded_again(tmp_path, monkeypatch):
    videos = random_videos(12)
    files, settings = write_corpus(tmp_path, dict(list(videos.items())[:9]))
    folder = tmp_path / "index"
    update(folder, files, settings)
    served = TestClient(application(folder), base_url="http://127.0.0.1")
    encode, encoded = ModelEncoder.encode, []
    monkeypatch.setattr(ModelEncoder, "encode", lambda self, windows: encoded.extend(windows) or encode(self, windows))
    write_video_features(files["features"], videos)
    manifest = update(folder, files, settings)
    assert manifest["videos"] == 12 and len(encoded) == 3
    encoded.clear()
    assert update(folder, files, settings)["clips"] == manifest["clips"] and not encoded

    changed = {**videos, "v0003": videos["v0003"] + 1}
    del changed["v0005"]
    write_video_features(files["features"], changed)
    manifest = update(folder, files, settings)
    assert manifest["videos"] == 11 and sorted(present(folder, manifest)) == sorted(changed)
    for video, status in (("v0011", 200), ("v0005", 400)):  # the page knows at once
        assert served.get("/api/search", params={"q": "a thing", "video": video}).status_code == status
    query = Index(folder).encoder.query_of_features(FeatureFile(files["text"])["5"])["unit"][0].numpy()
    index = Index(folder)
    found = index.candidates(query, 100)
    names = [index._video(one) for one in found]
    assert sorted(names) == sorted(changed)  # each once, v0005 gone, v0003 in its new form only
    whole = tmp_path / "whole"
    update(whole, files, settings)
    other = Index(whole)
    assert [(other._video(one), round(one.score, 4)) for one in other.candidates(query, 100)] == [
        (name, round(one.score, 4)) for name, one in zip(names, found)
    ]
    encoded.clear()
    update(folder, files, longer := settings.model_copy(update={"spans": Spans(**SPANS, clip_seconds=1.5)}))
    assert len(encoded) == 11, "other clips"
    model, _ = load_model(files["checkpoint"])
    save_model(files["checkpoint"], "xml", model, model.state_dict(), {"parameters": 2})
    update(folder, files, longer)
    assert len(encoded) == 22, "another training"


def test_the_best_windows_are_found_however_many_clips_the_first_have(tmp_path):
    draw = np.random.default_rng(0)
    sizes = [400, 300, *draw.integers(1, 9, 200)]
    windows = [draw.normal(size=(size, 8)) + 5 * (size > 99) for size in sizes]
    windows = [(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16) for rows in windows]
    items = [
        ({"video": f"v{number}", "windows": [[0.0, 1.0]]}, [Vectors(rows, rows[:0])], [])
        for number, rows in enumerate(windows)
    ]
    (tmp_path / "000001").mkdir()
    facts = write_windows(tmp_path / "000001", items, 8)
    write_checksums(tmp_path / "000001")
    stored = Windows(tmp_path / "000001", facts)
    query = np.ones(8, np.float32) / np.sqrt(8, dtype=np.float32)
    best = np.array([(rows.astype(np.float32) @ query).max() for rows in windows])
    for count in (1, 5, 150, 1000):
        found, scores = stored.search(query, count)
        assert found.tolist() == np.argsort(-best)[:count].tolist()
        assert np.allclose(scores, best[found], atol=1e-6)


def test_a_sentence_is_encoded_as_the_benchmark_encodes_a_caption(tmp_path):
    from verified.features.text import write_text_features

    files, settings = write_corpus(tmp_path, random_videos(4))
    caption = "a red ball rolls to the left"
    write_text_features([("0", caption)], text_features("all-MiniLM-L6-v2", batch=4), tmp_path / "one.h5")
    encoder = ModelEncoder(files["checkpoint"], "all-MiniLM-L6-v2")
    expected = encoder.query_of_features(FeatureFile(tmp_path / "one.h5")["0"])
    assert all(torch.equal(value, expected[name]) for name, value in encoder.query(caption).items())
    update(tmp_path / "index", files, settings)
    index = Index(tmp_path / "index")
    answer = index.ask(f"  {caption}\n", top=3)
    assert answer.query == caption and len(answer.moments) == 3
    assert {one.video for one in index.ask(caption, video="v0002").moments} == {"v0002"}
    json.dumps(answer.plain())
    for query, problem in (("  ", "empty"), ("x" * 3000, "3000 characters")):
        with refused(problem):
            index.ask(query)
    like = index.like("v0001", 0.0, 2.0, top=3)
    assert len(like.moments) == 3
    assert all(one.video != "v0001" or one.start >= 2 for one in like.moments)
    seconds = float(index.stored.seconds[0])
    of_a_clip = index.like("v0001", 0.0, seconds, top=3).moments
    for start, end in ((0.1, 0.2), (0.0, 1.5)):  # shorter than a clip, or up to the middle of the next
        assert index.like("v0001", start * seconds, end * seconds, top=3).moments == of_a_clip
    for start, end in ((0.2 * seconds, 0.2 * seconds), (0.2 * seconds, 0.1 * seconds)):
        with refused("holds no clip"):
            index.like("v0001", start, end)
