"""Models by name. The name of a model is the name of its file in `models/`."""

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config.retrieval import extend_path, model_files, model_module, model_names
from verified.errors import InputError, nearest

if TYPE_CHECKING:
    from verified.benchmark.vcmr.contract import RetrievalModel

_CLASSES: dict[str, type["RetrievalModel"]] = {}
SECOND_STREAM = "give second.h5 and say second_stream: true in the source (docs/given.md), or leave the model out"
"""Remedy for a model that reads a second stream of video features, where there is none."""


def register(name: str) -> Callable[[type["RetrievalModel"]], type["RetrievalModel"]]:
    """Class decorator: ``@register("xml")`` in ``models/xml.py``.

    Raises ValueError if the name is taken, and InputError for a class whose kind planning cannot read.
    """

    def add(model: type["RetrievalModel"]) -> type["RetrievalModel"]:
        if name in _CLASSES and _CLASSES[name].__module__ != model.__module__:
            raise ValueError(f"the model name {name!r} is taken by {_CLASSES[name].__module__}")
        _check_planning(name, model)
        _CLASSES[name] = model
        return model

    return add


def is_two_stage(name: str) -> bool:
    """Whether the model works on ranked lists: read from its file's source, so that planning imports nothing heavy."""
    return _declared(model_files()[name], name, "two_stage") is True


def reads_second_stream(name: str) -> bool:
    """Whether the model reads a second stream of video features; read like `is_two_stage`."""
    return _declared(model_files()[name], name, "second_stream") is True


def reads_ids(name: str) -> bool:
    """Whether the model reads captions as token ids, without text features; read like `is_two_stage`."""
    return _declared(model_files()[name], name, "query_input") == "ids"


def declared_title(name: str) -> str:
    """The title that the model's file declares for tables; empty for none, and for a model that is not known."""
    file = model_files().get(name)
    return str(_declared(file, name, "title") or "") if file else ""


@cache
def _declared(file: Path, name: str, attribute: str) -> object:
    """The constant that the class under ``@register(name)`` gives an attribute, with or without a type; else None."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and name in _registered_names(node):
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Constant):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    if any(isinstance(target, ast.Name) and target.id == attribute for target in targets):
                        return statement.value.value
    return None


def _registered_names(node: ast.ClassDef) -> list[object]:
    """The names in its decorators ``@register("name")``."""
    calls = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
    return [value.value for call in calls for value in call.args if isinstance(value, ast.Constant)]


def _check_planning(name: str, model: type["RetrievalModel"]) -> None:
    """Raise InputError if planning, which reads the file's text alone, takes the model for one of another kind."""
    file = getattr(sys.modules.get(model.__module__), "__file__", None)
    if file is None:
        return
    for attribute in ("two_stage", "second_stream"):
        value = getattr(model, attribute)
        if (_declared(Path(file), name, attribute) is True) != value:
            raise InputError(
                f"{attribute} of the class {model.__name__} of the model {name!r} is {value}, which cannot be read"
                " from the file's text before a run",
                file=file,
                remedy=f"""write `{attribute} = {value}` into the class under @register("{name}")""",
            )


def model_class(name: str) -> type["RetrievalModel"]:
    """The class behind a name. Raises InputError with the nearest known name."""
    if name in model_names():
        importlib.import_module(model_module(name))
    if name not in _CLASSES:
        names = sorted({*model_names(), *_CLASSES})
        if name in model_names():
            raise InputError("registers another name", file=model_files()[name], remedy=f'write @register("{name}")')
        raise InputError(f"unknown retrieval model {name!r}{nearest(name, names)}", remedy=f"known: {', '.join(names)}")
    return _CLASSES[name]


def model_of_file(path: str | Path) -> type["RetrievalModel"]:
    """The class that a Python file registers. Raises InputError if it cannot be loaded or registers none."""
    path = Path(path)
    extend_path(path)
    spec = importlib.util.spec_from_file_location(f"verified_model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError("is no Python file", file=path, remedy="name a file that ends in .py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        row = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        raise InputError(
            f"cannot be loaded: {type(error).__name__}: {error}",
            file=path,
            row=row,
            remedy="correct it so that Python can import it, saved as UTF-8",
        ) from None
    registered = [model for model in _CLASSES.values() if model.__module__ == module.__name__]
    if not registered:
        raise InputError("registers no model", file=path, remedy='decorate the class with @register("name")')
    return registered[-1]


def build_model(name: str, sizes: dict, options: dict | None = None) -> "RetrievalModel":
    """A model with the sizes that the data fix and the options of `retrieval.training.MODEL.options`.

    Raises InputError for an option that the model's config does not have.
    """
    model = model_class(name)
    options = options or {}
    names = sorted(field.name for field in fields(model.Config))
    for option in options:
        if option not in names:
            problem = f"{name} has no option {option!r}{nearest(option, names)}"
            raise InputError(problem, remedy=f"known: {', '.join(names)}")
    return model(model.Config(**sizes, **options))
