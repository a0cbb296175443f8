"""The engines behind text generation, each in a file of its own; `config/engines.py` lists them."""

from importlib import import_module

from verified.config.generation import EngineSettings, Generation
from verified.lmm.request import Engine


def make_engine(role: EngineSettings, generation: Generation) -> Engine:
    """The engine configured for a role. Raises InputError when it cannot be set up."""
<<<<<<< ours
    return import_module(role.kind.module).make(role, generation)
=======
    if role.engine == "scene-reader":
        from verified.lmm.engines.scene_reader import SceneReader

        return SceneReader(model=role.model, spoiled_share=generation.scene_reader.spoiled_share)
    if role.engine == "cassette":
        from verified.lmm.engines.cassette import Cassette

        return Cassette(str(role.cassette), role.model, role.revision)
    if role.engine == "openai":
        from verified.lmm.engines.openai import OpenAI

        return OpenAI(role)
    if role.engine == "transformers":
        from verified.lmm.engines.transformers import Transformers

        return Transformers(role, threads=generation.threads)
    from verified.lmm.engines.vllm import VLLM

    return VLLM(role)
>>>>>>> theirs
