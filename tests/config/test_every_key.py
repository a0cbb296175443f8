"""Every key of the configuration: another value plans the jobs that read it, or it is marked operational.

Each key is given another valid value in configurations in which it matters, and the plan of all jobs of a new run, with
their files and params, is compared with the plan before.
"""

import contextlib
import copy
import importlib
import io
import json
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from pydantic.fields import FieldInfo
from running import PROJECT, SHIPPED

from verified.config import load
from verified.config.base import Section
from verified.config.layers import merge, merge_layers
from verified.config.params import is_operational
from verified.errors import InputError

pytestmark = pytest.mark.slow

HUB, ADDRESS = "organisation/model", "http://127.0.0.1:9/v1"
CORE = ("name", "seed", "shards", "video_reader", "datasets", "tables", "generation", "evaluator", "annotations")
CORE += ("features", "retrieval", "statistics", "study", "export")
ASKED = {role: {"engine": "openai", "base_url": ADDRESS} for role in ("llm", "image_lmm", "video_lmm")}
BASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "captions": (
        "nano",
        {
            "annotations": {"choose_by": "agreement"},
            "evaluator": {"ablation": True},
            "retrieval": {"models": ["xml", "conquer"]},
        },
        ("all", "report_items", "study", "export"),
        CORE,
    ),
    "asked": ("nano", {"generation": ASKED}, ("all",), ("generation",)),
    "hub": (
        "nano",
        {
            "generation": {"sentence_encoder": HUB},
            "evaluator": {"umt_file": "umt.pth", "umt_url": "http://127.0.0.1/umt.pth", "size": "mini/16"},
            "features": {"video_backbone": HUB, "text_encoder": HUB},
        },
        ("all",),
        ("generation", "evaluator", "features", "weights"),
    ),
}
"""By name: a configuration that is shipped, what is added to it, targets, and the sections that are walked there."""
NOT_WALKED = {
    "*.source.kind": "another kind has other keys",
    "*.dynamics.frames": "takes the place of fps",
    "generation.embed": "read by extensions",
    "generation.speech": "the same",
    "generation.*.sampling.*": "answers of the role embed are not drawn",
    "generation.*.structured": "the same, and engines that answer in printed forms alone",
    "generation.*.video_input": "engines that take one form of a clip",
    "generation.*.cassette": "names a file that must be there",
    "generation.*.engine": "the engine cassette needs one",
    "generation.embed.model": "the engine packaged-joint has one model",
    "tables": "needs a second data set",
    "evaluator.checkpoint": "names a file that must be there",
}
"""Keys of which no change has an effect in these bases, with the reason."""
for file in sorted(PROJECT.glob("extensions/*/tests/keys_*.py")):  # the same of their sections
    added = importlib.import_module(file.stem)
    BASES |= added.BASES
    NOT_WALKED |= added.NOT_WALKED


def plan(values: dict[str, Any], targets: tuple[str, ...], folder: Path) -> dict[Any, Any]:
    """Inputs, outputs and params of each job of a new run, by rule and wildcards."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(values))
    with contextlib.redirect_stderr(io.StringIO()), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        context = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[config]),
            snakefile=PROJECT / "Snakefile",
            workdir=folder,
        )
        context.dag(DAGSettings(targets=set(targets), forceall=True))
        workflow: Any = context._workflow
        workflow._prepare_dag(forceall=True, ignore_incomplete=True, lock_warn_only=True)
        workflow._build_dag()
        return {
            (job.rule.name, *job.wildcards): (
                [*map(str, job.input)],
                [*map(str, job.output)],
                json.dumps(dict(job.params.items()), sort_keys=True, default=str),
            )
            for job in workflow.dag.jobs
        }


def leaves(section: Section, path: tuple[str, ...] = (), marked: bool = False) -> Iterator[tuple]:
    """Path, field, and whether it is operational, of each value that is no section."""
    for name, field in type(section).model_fields.items():
        value, here, mark = getattr(section, name), (*path, name), marked or is_operational(field)
        below = value.items() if isinstance(value, dict) else [("", value)] if isinstance(value, Section) else []
        sections = [(key, inner) for key, inner in below if isinstance(inner, Section)]
        for key, inner in sections:
            yield from leaves(inner, (*here, key) if key else here, mark)
        if not sections:
            yield here, field, mark


OTHERS = (3, 0.5, -50.0, 0.95, 64, True, "other", "en", "other.pth", "0" * 64, ADDRESS, [0.5, 1.0], [1], ["nano"], {})


def others(field: FieldInfo, value: Any) -> Iterator[Any]:
    """Values that the field may take in place of `value`."""
    yield from _literals(field.annotation)
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value * 2, value - 1, value // 2, value + 16)
        case float():
            yield from (value * 0.5, value * 1.5, value + 1, value - 0.1, value + 0.01)
        case str():
            yield from (f"{value}x", "other", "0" * 64, "other.pth", ADDRESS, "1.2.3", "fig", "cog", "coarse")
        case list():
            yield value[:-1]
            yield from ([*value, name] for name in (*_literals(field.annotation), 3, "other"))
            yield from (value[::-1], [0.5, 1.0], [*value, {"movies": 0.9}])
        case dict():
            yield from ({}, {**value, "other": 1}, {**value, "other": "other"}, {"xml": {"epochs": 2}})
        case _:
            yield from OTHERS


def _literals(kind: Any) -> list[Any]:
    parts = get_args(kind)
    return [*parts] if get_origin(kind) is Literal else [one for part in parts for one in _literals(part)]


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        values = values[key]
    return values


def walk(folder: Path) -> dict[str, dict[str, Any]]:
    """Of each key, by its path: whether it is operational, whether a change of it was planned, and in which base."""
    found: dict[str, dict[str, Any]] = {}
    for base, (name, added, targets, sections) in BASES.items():
        settings = load(merge(merge_layers([SHIPPED[name]]), added))
        values = settings.model_dump(mode="json")
        before = plan(values, targets, folder)
        for path, field, operational in leaves(settings):
            if path[0] not in sections:
                continue
            key = found.setdefault(".".join(path), {"operational": operational, "decides": None, "tried": {}})
            if key["decides"] or operational:
                continue
            for other in others(field, _at(values, path)):
                changed = copy.deepcopy(values)
                _at(changed, path[:-1])[path[-1]] = other
                try:
                    if _at(load(changed).model_dump(mode="json"), path) == _at(values, path):
                        continue
                    after = plan(changed, targets, folder)
                except (InputError, Exception, SystemExit) as error:
                    key["why"] = f"{error}"[:200]
                    continue
                key["tried"][base] = other
                key["decides"] = base if after != before else None
                break
    return found


def test_every_key_plans_its_jobs_or_is_operational(tmp_path):
    found = walk(tmp_path)
    silent = {key for key, seen in found.items() if not seen["operational"] and not seen["decides"]}
    assert not {key for key in silent if not any(fnmatch(key, pattern) for pattern in NOT_WALKED)}
    assert sum(bool(seen["decides"]) for seen in found.values()) > 150
    assert sum(seen["operational"] for seen in found.values()) > 60
