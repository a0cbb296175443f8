"""A model of one's own, in a folder outside the workflow: the configuration names its file, and all else follows."""

import shutil
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT, command, pending, snakemake

pytestmark = pytest.mark.slow
FOREIGN = PROJECT.parent / "shared" / "strangers"


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


def moment_detr_foreign(models: Path) -> Path:
    """Moment-DETR as somebody else wrapped it; of its authors' package the module that is returned."""
    shutil.copytree(FOREIGN, models, copy_function=shutil.copyfile)
    return models / "moment_detr" / "model.py"


@pytest.mark.parametrize(
    ("make", "title", "options"),
    [
        (late, "Late Mean", {"hidden": 24}),
        pytest.param(
            moment_detr_foreign,
            "moment_detr_foreign",
            {"hidden_dim": 24, "nheads": 3, "dim_feedforward": 40},
            marks=pytest.mark.skipif(not FOREIGN.is_dir(), reason="no model of others is at ../shared/strangers"),
        ),
    ],
)
def test_a_model_lies_where_its_configuration_says(nano, tmp_path, make, title, options):
    folder, name = tmp_path / "run", make.__name__
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    helper = make(folder / "lab" / "models")
    values = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    values["retrieval"]["models"] = ["xml", f"models/{name}.py"]
    values["retrieval"]["training"][name] = {"epochs": 1, "options": options}
    config = folder / "lab" / "lab.yaml"
    config.write_text(yaml.safe_dump(values))
    run = snakemake(folder, "--cores", "2", "results/tables", config=config)
    assert run.returncode == 0, run.stdout[-5000:]
    assert f"| {title} |" in (folder / "results/nano/tables/main-4.md").read_text(encoding="utf-8")
    build = command(folder, "--cores", "1", "results/tables", config=config)
    assert not pending(build)
    with helper.open("a") as text:
        text.write("\nEDITED = True\n")
    again = pending(build)
    assert {"train_model", "test_model"} <= again and "write_annotations" not in again
    plan = snakemake(folder, "--dry-run", "results/tables", config=config).stdout
    assert f"model={name}" in plan and "model=xml" not in plan
