from verified.io.pages import page_digest
from verified.report import QUESTIONS_PAGE


rule browse_questions:
    """The questions with frames, options and spans on one page, the suite's tables on another."""
    input:
        questions=rules.collect_rextime_questions.output.splits,
        to_review=rules.collect_rextime_questions.output.to_review,
        videos=expand(rules.probe_rextime_videos.output.videos, shard=SHARDS),
        tables=rules.tabulate_rextime.output.tables,
    output:
        page=report(
            f"{SUITE}/report/questions.html",
            caption="../report/questions.rst",
            category="Questions across time",
            labels={"page": "questions"},
        ),
        tables=report(
            f"{SUITE}/report/tables.html",
            caption="../report/question-tables.rst",
            category="Questions across time",
            labels={"page": "tables"},
        ),
    log:
        f"logs/{settings.name}/browse_questions.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(60),
    params:
        code=code_of("report/browse_questions.py"),
        title=f"Questions across time, {settings.name}",
        page=page_digest(QUESTIONS_PAGE),
    script:
        "../scripts/report/browse_questions.py"


rule export_questions:
    """The questions as others read them: Parquet and Croissant, with a card that names licence, models and checksums."""
    input:
        questions=rules.collect_rextime_questions.output.splits,
    output:
        directory(f"{SUITE}/export/hugging-face"),
    log:
        f"logs/{settings.name}/export_questions.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("rextime/export_questions.py"),
        about=suite_paths.card_facts(settings),
    script:
        "../scripts/rextime/export_questions.py"


REPORT_FILES += rules.browse_questions.output
