"""The engines behind text generation, each in a separate file; `config/engines.py` lists them."""

from importlib import import_module

from verified.config.generation import EngineSettings, Generation
from verified.lmm.request import Engine


def make_engine(role: EngineSettings, generation: Generation) -> Engine:
    """The engine configured for a role. Raises InputError when it cannot be set up."""
    return import_module(role.kind.module).make(role, generation)
