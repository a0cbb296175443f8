"""Properties of all models: sizes, labels, precision of cosines, and learning."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from given import coarse_only
from mutants import EXAMPLE
from planted import check_learning, plant, write_reader
from refusals import refused
from vcmr_golden import FOLDER

from verified.annotations.splits import captioned_files
from verified.benchmark.vcmr.contract import exclusive_end, inclusive_end, inclusive_end_two_clips
from verified.benchmark.vcmr.data import pool
from verified.benchmark.vcmr.jobs import model_code, settings_digest, testing_inputs, training_inputs
from verified.benchmark.vcmr.registry import model_class, model_of_file
from verified.benchmark.vcmr.scoring import max_over_clips, unit
from verified.config import load, retrieval
from verified.config.features import CAPTIONS
from verified.nn.layers import computing
from verified.tables.inputs import finest_submissions, run_files
from verified.tables.layout import model_of, title_of

SIZES = [
    ("xml", {"context_clips": 48}, 1_868_810, "xml_video_charades_hidden256"),
    ("xml", {"context_clips": 30}, 1_864_202, "xml_video_didemo_hidden256"),
    ("xml", {"context_clips": 240}, 1_917_962, "xml_video_anet_hidden256"),
    ("reloclnet", {"context_clips": 48}, 4_672_394, None),
    ("reloclnet", {"context_clips": 30}, 4_665_482, None),
    ("reloclnet", {"context_clips": 240}, 4_746_122, None),
    ("reloclnet", {"context_clips": 128}, None, "reloclnet_video_sub_hidden384"),
    ("hero", {"context_clips": 100, "vocabulary": 50272}, 110_371_338, "hero_vcmr_vfeat2048"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_general"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_sub_general"),
    ("conquer", {"context_clips": 100, "video_head": True}, 55_351_936, "conquer_visual_exclusive"),
    ("conquer", {"context_clips": 240}, 45_208_064 + 140 * 768, None),
    ("squidnet", {"context_clips": 100}, 48_251_008, "squidnet_moment_video"),
]
"""Model, sizes beside clips of 2048 and tokens of 768 numbers, parameters, state dict in state_dict_shapes.json."""


@pytest.mark.parametrize(("name", "sizes", "count", "layout"), SIZES)
def test_parameters_and_layout_are_the_official_ones(name, sizes, count, layout):
    cls = model_class(name)
    with torch.device("meta"):
        model = cls(cls.Config(video_dim=2048, text_dim=768, **sizes))
    assert count in (None, sum(value.numel() for value in model.parameters()))
    if layout:
        shapes = json.loads((FOLDER / "state_dict_shapes.json").read_text(encoding="utf-8"))[layout]
        official = model.from_official({key: torch.empty(shape, device="meta") for key, shape in shapes.items()})
        ours = {key: value.shape for key, value in model.state_dict().items()}
        assert {key: value.shape for key, value in official.items()} == ours


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_cosines_are_float32_in_either(precision):
    generator = torch.Generator().manual_seed(0)
    queries, clips = (torch.randn(shape, generator=generator) for shape in ((8, 64), (6, 10, 64)))
    mask = torch.ones(6, 10, dtype=torch.bool)
    truth = max_over_clips(unit(queries), unit(clips), mask)
    with computing("cpu", precision):
        product = queries @ queries.T
        cosines = max_over_clips(unit(queries), unit(clips), mask)
    assert product.dtype == (torch.bfloat16 if precision == "bfloat16" else torch.float32)
    assert cosines.dtype == torch.float32
    torch.testing.assert_close(cosines, truth, rtol=0, atol=1e-6)


def labels_file():
    return json.loads((FOLDER / "labels_masks_sampling.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", labels_file()["labels"], ids=lambda case: str(case["ts"]))
def test_labels_are_the_official_ones(case):
    arguments = (*case["ts"], case["clip_length"], case["n_clips"])
    assert list(exclusive_end(*arguments)) == case["xml"] == case["reloclnet"]
    assert list(inclusive_end(*arguments)) == case["conquer"]
    assert list(inclusive_end_two_clips(*arguments)) == case["hero"]


@pytest.mark.parametrize("case", labels_file()["uniform_feature_sampling"], ids=lambda case: str(case["n_clips"]))
def test_long_videos_are_pooled_as_officially(case):
    clips = np.arange(case["n_clips"], dtype=np.float32)[:, None]
    np.testing.assert_allclose(pool(clips, case["max_len"])[:, 0], case["output"])


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 48, seed=1), plant(folder, 20, seed=2)


@pytest.mark.parametrize("name, epochs", [("xml", 12), ("reloclnet", 12), ("hero", 16)])
def test_a_small_model_finds_planted_words_in_unseen_videos(name, epochs, splits, tmp_path):
    check_learning(name, epochs, splits, tmp_path)


testing_inputs.__test__ = False


def configured(features=None, **retrieval):
    released = {"kind": "released", "collection": "charades-fig", "splits": ["train", "test"]}
    spans = {"selection_split": "held-out", "held_out_share": 0.1}
    datasets = {
        "demo": {"title": "Demo", "source": {"kind": "demo"}},
        "bare": {"title": "Bare", "source": released, "spans": spans},
        "given": {"title": "Given", "source": {**released, "features_dir": "data/features"}, "spans": spans},
    }
    return load({"name": "test", "datasets": datasets, "retrieval": retrieval, "features": features or {}})


def test_the_digest_of_settings_tells_trainings_apart_that_must_not_be_averaged():
    def digest(model: str = "hero", **retrieval) -> str:
        run = SimpleNamespace(dataset="test/demo", model=model, trained_on="fig", tested_on="cog", seed="7")
        return settings_digest(configured(**retrieval), run)

    of_hero = {"training": {"hero": {"epochs": 3}}}
    assert digest() == digest(seeds=[1, 2], memory_mb=999, threads=3, training={"xml": {"epochs": 3}})
    assert len({digest(), digest(**of_hero), digest(training={"hero": {"learning_rate": 0.5}})}) == 3
    assert digest() != digest(searched_videos=7)
    for other in ({"fps": 2}, {"video_backbone": "small-resnet"}, {"text_encoder": "roberta-base"}):
        assert digest() != digest(features=other), other
    assert digest("conquer") != digest("conquer", training={"xml": {"epochs": 3}})  # it learns from XML's lists
    assert digest("conquer") != digest("conquer", training_list_videos=7)
    assert digest("conquer") == digest("conquer", **of_hero)


def test_text_features_and_trainings_read_the_captions_of_their_name():
    def files(captions: str) -> set[str]:
        names = captioned_files(configured(), SimpleNamespace(dataset="test/demo", captions=captions))
        return {Path(name).parent.name for name in names}

    assert [files(captions) for captions in CAPTIONS] == [{"cog"}, {"fig"}, {"fig-lowest"}]
    assert [key for _, key in CAPTIONS.values()] == ["cog_desc", "fig_desc", "fig_desc"]


def test_where_captions_are_coarse_alone_no_plan_has_fine_ones(tmp_path):
    settings = load(coarse_only(tmp_path, models=["xml", "conquer"], seeds=[3]))
    folders = {name: f"results/given/mine/retrieval/{name}/cog/seed-3/cog" for name in ("conquer", "xml")}
    assert finest_submissions(settings, "mine") == [f"{folder}/submission.json.gz" for folder in folders.values()]
    assert run_files(settings, "metrics.json") == [f"{folder}/metrics.json" for folder in folders.values()]
    write_reader(tmp_path / "subtitled.py")
    values = coarse_only(tmp_path, models=["xml", str(tmp_path / "subtitled.py")], seeds=[3])
    source = values["datasets"]["mine"]["source"]
    values["datasets"]["other"] = {**values["datasets"]["mine"], "title": "Other", "source": dict(source)}
    source["second_stream"] = True
    settings = load(values)
    models = {name: [Path(path).parts[4] for path in finest_submissions(settings, name)] for name in ("mine", "other")}
    assert models == {"mine": ["subtitled", "xml"], "other": ["xml"]}, "only where there is a second stream"
    for model, files in (("subtitled", {"second", "video"}), ("xml", {"video"})):
        run = SimpleNamespace(dataset="given/mine", model=model, trained_on="cog", tested_on="cog", seed="3")
        for inputs in (training_inputs(settings, run), testing_inputs(settings, run)):
            assert {Path(path).stem for key, path in inputs.items() if key in ("video", "second")} == files
    submissions = finest_submissions(configured(models=["xml"], seeds=[5]), "demo")
    assert submissions == ["results/test/demo/retrieval/xml/fig/seed-5/fig/submission.json.gz"]


def test_a_model_comes_from_an_installed_package_or_a_path_and_no_name_is_taken_twice(tmp_path, monkeypatch):
    text = EXAMPLE.read_text(encoding="utf-8")
    package, info = tmp_path / "site" / "strangers", tmp_path / "site" / "strangers-1.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "theirs.py").write_text(text.replace('"mean_pooling"', '"theirs"'))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[verified.models]\ntheirs = strangers.theirs\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    retrieval._shipped.cache_clear()
    monkeypatch.setenv(retrieval.OWN, "{}")
    file = tmp_path / "nearby.py"
    nearby = text.replace('"mean_pooling"', '"nearby"')
    file.write_text(nearby.replace("    Config =", '    title = "Near"\n    Config ='))
    try:
        names = configured(models=["theirs", str(file)], training={"nearby": {"epochs": 2}}).retrieval.names
        assert names == ("theirs", "nearby")
        assert [model_class(name).__name__ for name in names] == ["MeanPooling"] * 2
        assert model_class("theirs") is not model_class("nearby")
        assert title_of("nearby") == "Near" and model_of("Near") == "nearby" and title_of("theirs") == "theirs"
        assert model_code(SimpleNamespace(model="nearby")) != model_code(SimpleNamespace(model="theirs"))
    finally:
        retrieval._shipped.cache_clear()
    apart = tmp_path / "apart" / "apart.py"
    (apart.parent / "authors").mkdir(parents=True)
    (apart.parent / "authors" / "__init__.py").touch()
    apart.write_text("import authors\n" + text.replace('"mean_pooling"', '"apart"'))
    assert model_of_file(apart).__name__ == "MeanPooling"
    for other in ("xml.py", "torch.py", "my-model.py", "apart/authors.py"):
        shutil.copy(file, tmp_path / other)
        with refused(other, "rename"):
            configured(models=[str(tmp_path / other)])
    with refused("gone.py", "no file"):
        configured(models=[str(tmp_path / "gone.py")])
    with refused("xlm", "'xml'", "models/mine.py"):
        configured(models=["xlm"])
