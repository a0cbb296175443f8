"""Models by name. The name of a model is the name of its file in `models/`."""

import ast
import difflib
import importlib.util
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from verified.common.errors import InputError

if TYPE_CHECKING:
    from verified.retrieval.contract import RetrievalModel

_CLASSES: dict[str, type["RetrievalModel"]] = {}


def register(name: str) -> Callable[[type["RetrievalModel"]], type["RetrievalModel"]]:
    """Class decorator: ``@register("xml")`` in ``models/xml.py``. Raises ValueError if the name is taken."""

    def add(model: type["RetrievalModel"]) -> type["RetrievalModel"]:
        if name in _CLASSES and _CLASSES[name].__module__ != model.__module__:
            raise ValueError(f"the model name {name!r} is taken by {_CLASSES[name].__module__}")
        _CLASSES[name] = model
        return model

    return add


def model_names() -> list[str]:
    """Names of the models that have a file, in alphabetical order. Imports nothing heavy."""
    return sorted(file.stem for file in Path(__file__).with_name("models").glob("[a-z]*.py"))


def is_two_stage(name: str) -> bool:
    """Whether the model works on ranked lists: read from its file's source, so that planning imports nothing heavy."""
    source = Path(__file__).with_name("models").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "two_stage" for target in node.targets)
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
        for node in ast.walk(ast.parse(source))
    )


def model_class(name: str) -> type["RetrievalModel"]:
    """The class behind a name. Raises InputError with the nearest known name."""
    if name in model_names():
        importlib.import_module(f"verified.retrieval.models.{name}")
    if name not in _CLASSES:
        known = sorted({*model_names(), *_CLASSES})
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"unknown retrieval model {name!r}", remedy=f"{hint}known: {', '.join(known)}")
    return _CLASSES[name]


def model_of_file(path: str | Path) -> type["RetrievalModel"]:
    """The class that a Python file registers. Raises InputError if it cannot be loaded or registers none."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"verified_model_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (OSError, SyntaxError, ImportError, NameError) as error:
        raise InputError(f"cannot be loaded: {error}", file=path) from None
    registered = [model for model in _CLASSES.values() if model.__module__ == module.__name__]
    if not registered:
        raise InputError("registers no model", file=path, remedy='decorate the class with @register("name")')
    return registered[-1]


def build_model(name: str, sizes: dict, options: dict | None = None) -> "RetrievalModel":
    """A model with the sizes that the data fix and the options of `retrieval.training.MODEL.model`.

    Raises InputError for an option that the model's config does not have.
    """
    from verified.common.linear import through_onednn
    from verified.retrieval.dropout import with_quick_dropout

    model = model_class(name)
    options = options or {}
    known = {field.name for field in fields(model.Config)}
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, sorted(known), n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"{name} has no option {option!r}", remedy=f"{hint}known: {', '.join(sorted(known))}")
    return with_quick_dropout(through_onednn(model(model.Config(**sizes, **options))))
