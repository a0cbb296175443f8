"""Paths of outputs: a template for each file that rules share with commands, pages or other stages' code.

A rule uses a template with open wildcards; others fill them in for a configuration. A file that one rule makes and only
rules read is spelled in that rule.
"""

from verified.config import Config
from verified.config.folders import dataset_wildcard
from verified.runtime.wildcards import key_of, shard_names


class Layout:
    """The templates, and paths of one configuration's outputs."""

    moments = "results/{dataset}/corpus/moments.jsonl"
    videos = "results/{dataset}/corpus/videos.jsonl"
    """The usable videos of the whole corpus."""
    truth = "results/{dataset}/corpus/truth.jsonl"
    """The truth about the events in rendered videos."""
    hashes = "results/{dataset}/corpus/hashes/{shard}.json"
    shard_moments = "results/{dataset}/corpus/shards/{shard}.moments.jsonl"
    shard_videos = "results/{dataset}/corpus/shards/{shard}.videos.jsonl"
    scene_captions = "results/{dataset}/corpus/scenes/{shard}.captions.jsonl"
    """Captions of scenes of videos without moments, which an extension writes."""
    keyframes = "results/{dataset}/keyframes/{shard}.tar"
    statics = "results/{dataset}/captions/statics/{shard}.jsonl"
    dynamics = "results/{dataset}/captions/dynamics/{shard}.jsonl"
    perturbations = "results/{dataset}/perturbations/{shard}.jsonl"
    scores = "results/{dataset}/evaluator/scores/{shard}.jsonl"
    clip_index = "results/{dataset}/evaluator/clips/{shard}.jsonl"
    annotations = "results/{dataset}/annotations/{kind}/{split}.jsonl"
    video_features = "results/{dataset}/features/video.h5"
    second_features = "results/{dataset}/features/second.h5"
    text_features = "results/{dataset}/features/text-{captions}.h5"
    training = "results/{dataset}/retrieval/{model}/{trained_on}/seed-{seed}"
    """Folder of one training of a retrieval model."""
    test = training + "/{tested_on}"
    """Folder of its answers to one kind of captions."""
    figure = "results/{dataset}/figures/{figure}.svg"
    export = "results/{dataset}/export/{form}"

    def __init__(self, settings: Config):
        self.settings = settings

    def path(self, template: str, dataset: str, **values: object) -> str:
        """A template filled in for a data set, given by its key or by the value of the wildcard; others stay open."""
        values["dataset"] = dataset_wildcard(self.settings, key_of(dataset))
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", str(value))
        return template

    def shards(self, template: str, dataset: str = "") -> list[str]:
        """The paths of all shards, in order; without a data set its wildcard stays open."""
        filled = self.path(template, dataset) if dataset else template
        return [filled.replace("{shard}", shard) for shard in shard_names(self.settings.shards)]

    def candidates(self, dataset: str = "") -> list[str]:
        """Candidate captions, statics before dynamics; without a data set its wildcard stays open."""
        return [*self.shards(self.statics, dataset), *self.shards(self.dynamics, dataset)]

    def corrupted(self, dataset: str = "") -> list[str]:
        """Records of the candidates among them that the demo's engine corrupted on purpose."""
        return [path.replace(".jsonl", ".corrupted.jsonl") for path in self.candidates(dataset)]
