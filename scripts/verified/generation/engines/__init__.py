"""The engines, by the name they have in the configuration; each is imported only when it is used."""

from verified.config.generation import EngineSettings, Generation
from verified.generation.request import Engine


def make_engine(role: EngineSettings, generation: Generation) -> Engine:
    """The engine configured for a role. Raises InputError when it cannot be set up."""
    if role.engine == "scene-reader":
        from verified.generation.engines.scene_reader import SceneReader

        return SceneReader(model=role.model, spoiled_share=generation.scene_reader.spoiled_share)
    if role.engine == "cassette":
        from verified.generation.engines.cassette import Cassette

        return Cassette(str(role.cassette), role.model, role.revision)
    if role.engine == "openai":
        from verified.generation.engines.openai import OpenAI

        return OpenAI(role)
    if role.engine == "transformers":
        from verified.generation.engines.transformers import Transformers

        return Transformers(role, threads=generation.threads)
    from verified.generation.engines.vllm import VLLM

    return VLLM(role)
