from verified_clock.config import Clock
from verified_clock.stage import result, tasks_that_need_times
from verified_clock.tasks import forms

CLOCK = settings.section(Clock)


rule test_clock:
    """Ask the video LMM when events of a rendered clip happen; stops a run whose tasks need times that it lacks."""
    input:
        **ASKING.inputs(forms(settings.generation).values(), "video_lmm"),
    output:
        result=result(settings),
    log:
        f"logs/{settings.name}/test_clock.log",
    conda:
        "../" + ASKING.environment("video_lmm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("video_lmm"),
    params:
        code=code_of("extensions/clock/scripts/ask_model.py"),
        engines=ASKING.engine_code("video_lmm"),
        generation=ASKING.values(*forms(settings.generation).values()),
        clock=deciding(CLOCK),
        tasks=tasks_that_need_times(settings),
        seed=settings.seed,
    script:
        "scripts/ask_model.py"
