"""Engine `scene-reader`, which belongs to the demo."""

from verified.demo.scene_reader import SceneReader

__all__ = ["SceneReader"]
