"""The configuration as one model, from which the schema and the documentation are generated."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError, create_model, model_validator
from pydantic_core import ErrorDetails

from verified.config.json_schema import keys_at
from verified.config.layers import merge_layers
from verified.config.model import HUGGING_FACE
from verified.config.model import Config as Config
from verified.config.retrieval import announce_models
from verified.errors import InputError, nearest
from verified.extension import extensions
from verified.io.characters import hidden
from verified.io.jsonl import is_array, is_object
from verified.runtime.secrets import is_secret, keep_secret, redact


class _Whole(Config):
    @model_validator(mode="after")
    def extensions_fit(self) -> Self:
        for name in self.export.forms:
            if name != HUGGING_FACE and name not in (forms := _export_forms()):
                raise ValueError(f"export.forms: no form {name!r}; there are {', '.join(forms)}")
        for extension in extensions():
            extension.check(self)
        return self


def _export_forms() -> list[str]:
    added = [name for extension in extensions() for name, form in extension.exports().items() if not form.of_run]
    return [HUGGING_FACE, *added]


@cache
def config_model() -> type[Config]:
    """The model of a whole configuration: `Config` with the sections of all extensions."""
    sections = {key: kind for extension in extensions() for key, kind in extension.sections.items()}
    fields: dict[str, Any] = {key: (kind | None, None) for key, kind in sections.items()}
    return create_model("Config", __base__=_Whole, __doc__=Config.__doc__, **fields)


def load(values: dict[str, Any], source: str = "configuration") -> Config:
    """Validate plain values; raises InputError with each key's path, its value and the nearest valid key."""
    for path, text in _texts(values):
        place, name = path.rstrip(".") or "a key", path.rpartition(".")[2]
        if is_secret(name, text):
            keep_secret(text)
            raise InputError(
                f"{redact(place)} holds a key or a password",
                file=source,
                remedy="remove it from there, and put it into the environment variable that api_key_variable names",
            )
        if sign := hidden(text):
            raise InputError(f"{place} holds the character {sign}, which nobody sees", file=source, remedy="remove it")
        if match := SCRIPT.search(text):
            raise InputError(f"{place} holds {match[0]!r}, which Snakemake's report would run", file=source)
    try:
        settings = config_model().model_validate(values)
    except ValidationError as error:
        lines = [_explain(detail, values) for detail in error.errors()]
        raise InputError("; ".join(lines), file=source, remedy="`verified dev config-docs` lists all keys") from None
    announce_models(settings.retrieval)
    return settings


SCRIPT = re.compile(r"</?script|<!--", re.I)
"""Snakemake's report embeds the params of jobs verbatim in a script of its page; these strings end or swallow it."""


def _texts(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Texts of a configuration, each with its path, and its keys, each with the path of its section and a point."""
    if is_object(values):
        for key, value in values.items():
            yield f"{path}.", str(key)
            yield from _texts(value, f"{path}.{key}" if path else str(key))
    elif is_array(values):
        for number, value in enumerate(values):
            yield from _texts(value, f"{path}.{number}")
    elif isinstance(values, str):
        yield path, values


def read(*paths: str | Path) -> Config:
    """Load YAML files with the layers below them; later files change earlier ones (see `config.layers`)."""
    return load(merge_layers(paths), ", ".join(map(str, paths)))


def _explain(detail: ErrorDetails, values: dict[str, Any]) -> str:
    path = _written_path(detail["loc"], values)
    key = ".".join(map(str, path)) or "(top level)"
    if detail["type"] == "extra_forbidden":
        variants = keys_at(config_model().model_json_schema(), path[:-1])
        kinds = [str(keys["kind"].get("const", "")) for keys in variants if path[-1] in keys and "kind" in keys]
        if any(kinds):
            return f"{key} is a key of kind {', '.join(kinds)} (value {detail['input']!r})"
        hint = nearest(str(path[-1]), sorted({name for keys in variants for name in keys}))
        return f"unknown key {key} (value {detail['input']!r}){hint}"
    if detail["type"] == "missing":
        return f"missing key {key}"
    if not path:
        return detail["msg"].removeprefix("Value error, ")
    value = re.sub(r"(?<=://)[^/@\s]*@|(?<=\?)[^\s'\"]+", "...", repr(detail["input"]))  # of addresses: secrets
    return f"{key} = {value}: {detail['msg'].removeprefix('Value error, ')}"


def _written_path(location: tuple[int | str, ...], values: Any) -> list[int | str]:
    """The keys of `location` as the file has them: pydantic adds the name of the variant it tried."""
    path: list[int | str] = []
    for position, key in enumerate(location):
        try:
            values = values[key]
        except (KeyError, IndexError, TypeError):
            if position < len(location) - 1:
                continue
        path.append(key)
    return path
