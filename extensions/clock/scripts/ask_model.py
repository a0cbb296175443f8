"""Whether the video LMM knows the times of frames (see extensions/clock/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.errors import InputError
    from verified.io.jsonl import write_json
    from verified.weights.records import locate_models
    from verified_clock.config import Clock
    from verified_clock.stage import problem, try_model

    params = snakemake.params
    settings = received(Clock, params.clock)
    generation = locate_models(received(Generation, params.generation), snakemake.input.weights)
    form = generation.video_lmm.video_input
    trials = try_model(generation, params.seed, settings.tolerance)
    wrong = problem({name: verdict for name, (verdict, _) in trials.items()}, form, params.tasks)
    if wrong and settings.refuse:
        raise InputError(wrong[0], remedy=wrong[1])
    if wrong:
        log.warning("%s (%s)", *wrong)
    forms = {
        name: {"verdict": str(verdict), "slope": verdict.slope, "offset": verdict.offset, "answers": answers}
        for name, (verdict, answers) in trials.items()
    }
    write_json(snakemake.output.result, {"model": generation.video_lmm.model, "shown_as": form, "forms": forms})
