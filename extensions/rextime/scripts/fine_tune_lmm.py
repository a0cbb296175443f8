"""The video LMM is fine-tuned on the questions of train (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl
    from verified.weights.records import locate_models
    from verified_rextime.config import Lora
    from verified_rextime.fine_tune_lmm import Shown, fine_tune

    inputs, params = snakemake.input, snakemake.params
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    clips = Shown(videos, params.frames, generation.frame_side)
    files = {"questions": inputs.questions, **dict(snakemake.output.items())}
    card = fine_tune(read_jsonl(inputs.questions), clips, generation, received(Lora, params.lora), params.seed, files)
    log.info("%d questions, %d without a video left out", card["questions"], card["questions_left_out"])
