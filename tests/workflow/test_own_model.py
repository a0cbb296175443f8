"""A model of one's own, in a folder outside the workflow: the configuration names its file, and all else follows."""

import shutil
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT, command, ended_well, pending, snakemake

pytestmark = pytest.mark.slow


def late(models: Path) -> Path:
    """The example, with a helper beside it, which is returned."""
    models.mkdir(parents=True)
    text = (PROJECT / "examples" / "mean_pooling.py").read_text(encoding="utf-8")
    for old, new in (
        ('register("mean_pooling")', 'register("late")'),
        ("    Config = MeanPoolingConfig", '    title = "Late Mean"\n    Config = MeanPoolingConfig'),
        ("from verified.benchmark.vcmr.layers import zero_pads", "from late_layers import zero_pads"),
    ):
        assert old in text
        text = text.replace(old, new)
    (models / "late.py").write_text(text)
    helper = models / "late_layers.py"
    helper.write_text("from verified.benchmark.vcmr.layers import zero_pads as zero_pads\n")
    return helper


def test_a_model_lies_where_its_configuration_says(nano, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    helper = late(folder / "lab" / "models")
    values = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    values["retrieval"]["models"] = ["xml", "models/late.py"]
    values["retrieval"]["training"]["late"] = {"epochs": 1, "options": {"hidden": 24}}
    config = folder / "lab" / "lab.yaml"
    config.write_text(yaml.safe_dump(values))
    ended_well(folder, "--cores", "2", "results/tables", config=config)
    assert "| Late Mean |" in (folder / "results/nano/tables/main-4.md").read_text(encoding="utf-8")
    build = command(folder, "--cores", "1", "results/tables", config=config)
    assert not pending(build)
    with helper.open("a") as text:
        text.write("\nEDITED = True\n")
    again = pending(build)
    assert {"train_model", "test_model"} <= again and "write_annotations" not in again
    plan = snakemake(folder, "--dry-run", "results/tables", config=config).stdout
    assert "model=late" in plan and "model=xml" not in plan
