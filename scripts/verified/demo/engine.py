"""The scene reader as an engine of text generation; it is a module of its own, as a digest of its own files feeds its
seeds."""

from verified.config.generation import EngineSettings, Generation
from verified.demo.scene_reader import SceneReader


def make(role: EngineSettings, generation: Generation) -> SceneReader:
    """The engine `scene-reader` of a role."""
    return SceneReader(model=role.model, corrupted_share=generation.scene_reader.corrupted_share)
