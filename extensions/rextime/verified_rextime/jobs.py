"""Files and settings of the ReXTime jobs, by configuration."""

from verified.annotations.export import generation_facts
from verified.annotations.splits import finest_captions
from verified.benchmark.vcmr.jobs import CLIPS, SEARCHED, TEXT_ENCODER, search_settings
from verified.benchmark.vcmr.registry import is_two_stage
from verified.config import Config
from verified.config.datasets import Spans
from verified.config.folders import dataset_folder, home
from verified.config.params import deciding
from verified.config.retrieval import model_module
from verified.layout import Layout
from verified.runtime.digest import modules_digest
from verified.runtime.wildcards import shard_names
from verified.weights.wanted import model_records
from verified_rextime.config import CLIP_SECONDS, FREE, GroundingModel, Rextime

TRAIN = "train"
"""The split whose questions get no wrong options and train models."""
TUNED = "fine-tuned/"
"""Folder of a fine-tuned model's answers, next to those of the model before."""
RELEASED = "released-"
"""Before the name of given questions, where a model with published weights answers them."""


def _section(settings: Config) -> Rextime:
    return settings.section(Rextime)


def folder(settings: Config) -> str:
    """Folder of all ReXTime outputs."""
    return f"{home(settings)}/rextime"


def splits(section: Rextime) -> list[str]:
    """Splits that questions are written for."""
    return sorted({source.split for source in section.sources.values()})


def tested_splits(section: Rextime) -> list[str]:
    """Splits whose questions have options."""
    return [split for split in splits(section) if split != TRAIN]


def datasets_used(settings: Config) -> list[str]:
    """Data sets of the configuration whose moments are a source."""
    return sorted({source.dataset for source in _section(settings).sources.values() if source.dataset})


def source_inputs(settings: Config) -> list[str]:
    """Annotation files of the sources, and the corpora of the data sets among them."""
    files = [source.annotations for source in _section(settings).sources.values() if source.annotations]
    for dataset in datasets_used(settings):
        files += [Layout(settings).path(template, dataset) for template in (Layout.moments, Layout.videos)]
    return files


def video_folders(settings: Config) -> list[str]:
    """Folders of videos of the sources that are no data set."""
    return sorted({source.videos for source in _section(settings).sources.values() if source.videos})


def corpus_videos(settings: Config) -> list[str]:
    """The videos of each data set that is a source."""
    return [Layout(settings).path(Layout.videos, dataset) for dataset in datasets_used(settings)]


def corpora(settings: Config) -> dict[str, str]:
    """Folder of the corpus of each data set that is a source."""
    return {dataset: f"{dataset_folder(settings, dataset)}/corpus" for dataset in datasets_used(settings)}


def protocols(settings: Config) -> list[str]:
    """Protocols by which the video LMM takes the test."""
    return list(_section(settings).protocols) if "video_lmm" in _section(settings).models else []


def answered(settings: Config) -> list[str]:
    """Names of the given questions that the video LMM answers."""
    return [name for name, entry in _section(settings).released.items() if entry.videos and protocols(settings)]


def adapter(settings: Config) -> str | None:
    """The adapters of the fine-tuned video LMM, where it takes the test as well."""
    tuned = "fine_tuned_video_lmm" in _section(settings).models
    return f"{folder(settings)}/fine-tuned/video-lmm/adapter.safetensors" if tuned else None


def card(settings: Config) -> list[str]:
    """The card of these adapters, if there are any."""
    return [f"{folder(settings)}/fine-tuned/video-lmm/card.json"] if adapter(settings) else []


def answer_files(settings: Config) -> list[str]:
    """The video LMM's answers to given questions, in the form of a submission."""
    return [
        f"{folder(settings)}/released/{name}/{part}{protocol}.jsonl"
        for name in answered(settings)
        for protocol in protocols(settings)
        for part in _taught(settings)
    ]


def _taught(settings: Config) -> list[str]:
    """Folders of the answers of the video LMM: before, and, if it exists, after fine-tuning."""
    return ["", TUNED] if adapter(settings) else [""]


def grounders(settings: Config) -> list[tuple[str, str, str]]:
    """(data set, retrieval model, captions that it is trained on) of the grounders: the finest of the data set."""
    if "retrieval" not in _section(settings).models:
        return []
    models = sorted(settings.retrieval.names)
    return [(name, model, finest_captions(settings, name)) for name in datasets_used(settings) for model in models]


def fine_tuned_grounders(settings: Config) -> list[tuple[str, str, str]]:
    """The one-stage `grounders`, fine-tuned on the training questions of their data set.

    Two-stage models take negatives from ranked lists, which exist for captions alone.
    """
    if "fine_tuned_retrieval" not in _section(settings).models:
        return []
    sources = _section(settings).sources.values()
    taught = {source.dataset for source in sources if source.split == TRAIN}
    return [grounder for grounder in grounders(settings) if grounder[0] in taught and not is_two_stage(grounder[1])]


def systems(settings: Config) -> dict[str, dict]:
    """Test takers, by the name that tables show: ``mode`` and ``files`` of the submission, ``questions`` if it answers
    only these, and then the rows of the ``videos`` that it was shown.

    A fine-tuned model has the name of the same model ``before``, and a video LMM the ``card`` of its adapters. Free
    answers are not scored.
    """
    submissions = {}
    scored = [protocol for protocol in protocols(settings) if protocol != FREE]
    for protocol, part in ((protocol, part) for protocol in scored for part in _taught(settings)):
        own = f"{folder(settings)}/answers/{part}{protocol}"
        named = {"files": [f"{own}/{shard}.jsonl" for shard in shard_names(settings.shards)], "mode": "both"}
        tests = {"": named} if _section(settings).sources else {}
        for name in answered(settings):
            if _section(settings).released[name].scored:
                file = f"{folder(settings)}/released/{name}/{part}{protocol}.jsonl"
                videos = f"{folder(settings)}/released/{name}/videos"
                shown_videos = [f"{videos}/{shard}.jsonl" for shard in shard_names(settings.shards)]
                tests[f" ({name})"] = {"mode": "first-row", "files": [file], "questions": name, "videos": shown_videos}
        title = f"{settings.generation.video_lmm.model}, {protocol.replace('_', ' ')}"
        for test, facts in tests.items():
            before = {"before": f"{title}{test}", "card": card(settings)[0]} if part else {}
            tuned = ", fine-tuned on questions" if part else ""
            submissions[f"{title}{tuned}{test}"] = facts | before
    for dataset, model, captions in grounders(settings):
        file = f"{folder(settings)}/grounding/{dataset}/{model}-{captions}.jsonl"
        name = f"{model}, trained on {captions}"
        submissions.setdefault(name, {"mode": "grounding", "files": []})["files"].append(file)
    for dataset, model, captions in fine_tuned_grounders(settings):
        before = f"{model}, trained on {captions}"
        facts = {"mode": "grounding", "files": [], "before": before}
        file = f"{folder(settings)}/grounding/{dataset}/fine-tuned/{model}-{captions}.jsonl"
        submissions.setdefault(f"{before}, fine-tuned on questions", facts)["files"].append(file)
    for model in _section(settings).published:
        for test, file in published_tests(settings, model).items():
            name = f"{model}, published weights, zero-shot"
            released = test.partition(RELEASED)[2]
            name += f" ({released})" if released else ""
            facts: dict = {"mode": "grounding", "files": [], "weights": []}
            system = submissions.setdefault(name, facts | ({"questions": released} if released else {}))
            system["files"].append(file)
            system["weights"].append(file.replace(".jsonl", ".facts.json"))
    for name, submission in _section(settings).submissions.items():
        submissions[name] = {"mode": submission.mode, "files": [submission.file], "questions": submission.questions}
    return submissions


def free_answers(settings: Config) -> dict[str, dict]:
    """By test, where the video LMM answers freely: files of `questions` and `answers`, whether they are `scored`."""
    if FREE not in protocols(settings):
        return {}
    files = [f"{folder(settings)}/answers/{FREE}/{shard}.jsonl" for shard in shard_names(settings.shards)]
    tests: dict[str, dict] = {}
    for split in tested_splits(_section(settings)):
        questions = f"{folder(settings)}/annotations/{split}.jsonl"
        tests[split] = {"questions": questions, "scored": True, "answers": files}
    for name in answered(settings):
        file = f"{folder(settings)}/released/{name}/{FREE}.jsonl"
        scored = _section(settings).released[name].scored
        tests[name] = {"questions": given_file(settings, name), "scored": scored, "answers": [file]}
    return tests


def question_files_by_name(settings: Config) -> dict[str, str]:
    """Question files of the systems' scores, by name: the generated splits and the given files."""
    files = {split: f"{folder(settings)}/annotations/{split}.jsonl" for split in tested_splits(_section(settings))}
    return files | given_files(settings)


def given_files(settings: Config) -> dict[str, str]:
    """Files of given questions that are scored, by name."""
    return {name: given_file(settings, name) for name, entry in _section(settings).released.items() if entry.scored}


def given_file(settings: Config, name: str) -> str:
    """The questions of one given test: the file itself, or the sample of it."""
    entry = _section(settings).released[name]
    return f"{folder(settings)}/released/{name}/sample.jsonl" if entry.sampled else entry.questions


def published_tests(settings: Config, model: GroundingModel) -> dict[str, str]:
    """Submissions of a model with its authors' weights, by test.

    With a separate feature file: all generated questions, and each released file that is scored; without, the questions
    about each data set, whose features it reads.
    """
    section = _section(settings)
    if section.published[model].video is None:
        tests = [f"dataset-{name}" for name in datasets_used(settings)]
    else:
        tests = (["suite"] if section.sources else []) + [f"{RELEASED}{name}" for name in given_files(settings)]
    return {test: f"{folder(settings)}/grounding/published/{model}/{test}.jsonl" for test in tests}


def published_inputs(settings: Config, wildcards) -> dict[str, str | list[str]]:
    """Weights, features and questions of ``wildcards.published`` and ``wildcards.test``."""
    grounder, test, layout = _section(settings).published[wildcards.published], wildcards.test, Layout(settings)
    released = test.partition(RELEASED)[2]
    written = [f"{folder(settings)}/annotations/{split}.jsonl" for split in tested_splits(_section(settings))]
    video = grounder.video or layout.path(layout.video_features, test.removeprefix("dataset-"))
    questions = [given_file(settings, released)] if released else written
    return {"checkpoint": grounder.checkpoint, "video": video, "questions": questions}


def published_sources(settings: Config, wildcards) -> list[str] | None:
    """Sources of the questions of ``wildcards.test``; None: all questions of the files."""
    _, is_dataset, dataset = wildcards.test.partition("dataset-")
    return sources_of(settings, dataset) if is_dataset else None


def published_search(settings: Config) -> dict:
    """Settings of the search in a given video, with weights for clips of two seconds."""
    searched = deciding(settings.retrieval, SEARCHED) | {"searched_videos": 1}
    spans = deciding(Spans(clip_seconds=CLIP_SECONDS), CLIPS)
    return {"retrieval": searched, "spans": spans, "features": {"text_encoder": ""}, "feature_cast": "float32"}


def published_code(wildcards) -> str:
    """A params function: digest of the code of the model in ``wildcards.published``."""
    return modules_digest(model_module(wildcards.published))


def grounding_inputs(settings: Config, wildcards) -> dict[str, str]:
    """Checkpoint and video features of ``wildcards.grounded`` and ``wildcards.grounder``."""
    layout, dataset, seed = Layout(settings), wildcards.grounded, settings.retrieval.seeds[0]
    model, trained_on = _grounder(wildcards)
    run = layout.path(layout.training, dataset, model=model, trained_on=trained_on, seed=seed)
    return {"video": layout.path(layout.video_features, dataset), "checkpoint": f"{run}/checkpoint.safetensors"}


def grounding_settings(settings: Config, wildcards) -> dict:
    """Settings of the search in a given video of ``wildcards.grounded``."""
    search = search_settings(settings, wildcards.grounded)
    return {**search, "features": deciding(settings.features, TEXT_ENCODER)}


def fine_tuning_settings(settings: Config, wildcards) -> dict:
    """Settings of the fine-tuning of ``wildcards.grounder``."""
    return {
        **search_settings(settings, wildcards.grounded, ("precision",)),
        "features": deciding(settings.features, TEXT_ENCODER),
        "training": deciding(_section(settings).fine_tuning),
        "seed": settings.seed,
    }


def grounder_code(wildcards) -> str:
    """A params function: digest of the code of the model in ``wildcards.grounder``, which imports cannot tell."""
    return modules_digest(model_module(_grounder(wildcards)[0]))


def _grounder(wildcards) -> tuple[str, str]:
    """Model and captions that it was trained on: ``fig-lowest`` of "xml-fig-lowest"."""
    model, _, captions = wildcards.grounder.partition("-")
    return model, captions


def sources_of(settings: Config, dataset: str) -> list[str]:
    """Sources that are the corpus of one data set."""
    return sorted(name for name, source in _section(settings).sources.items() if source.dataset == dataset)


def card_facts(settings: Config) -> dict:
    """Facts for the card of the exported questions (see `export.collection.Collection`)."""
    facts, generation = generation_facts(settings), settings.generation
    return {
        "title": f"Questions across time of {settings.name}",
        "name": "rextime",
        "config": settings.name,
        "licence": _section(settings).licence,
        "version": settings.export.version,
        "creators": list(settings.export.creators),
        "url": settings.export.url,
        "statements": settings.export.statements.model_dump(exclude_none=True),
        "models": {"Language model": generation.llm.model, "Video model": generation.video_lmm.model},
        "prompts": {"name": facts["prompts"], "sha256": facts["prompts_sha256"]},
    }


def published_records(settings: Config, model: GroundingModel) -> list[str]:
    """The record, or the folder, of the text encoder of a model with its authors' weights (`rextime.published`)."""
    grounder = _section(settings).published[model]
    return model_records(settings, grounder.text_encoder, grounder.text_revision)
