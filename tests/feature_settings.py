"""What decides features, as jobs get it."""

from verified.config.features import TextFeatures, VideoFeatures


def video_features(video_backbone: str, batch: int) -> VideoFeatures:
    return VideoFeatures(
        video_backbone=video_backbone, video_revision="", fps=4.0, precision="float32", batch=batch, threads=1, gpu=0
    )


def text_features(text_encoder: str, batch: int) -> TextFeatures:
    return TextFeatures(text_encoder=text_encoder, text_revision="", batch=batch, threads=1, gpu=0)
