"""The plan of a run: jobs and limits as Snakemake prints them."""

from verified.planning.plan import rows_of, table

DRY_RUN = """
rule caption_dynamics:
    threads: 2
    resources: tmpdir=/tmp, mem_mb=3000, runtime=60, gpu=1
rule caption_dynamics:
    resources: mem_mb=3000, runtime=60, gpu=1
localrule build_tables:
    resources: mem_mb=2000, runtime=30
"""


def test_jobs_of_a_rule_are_summed():
    rows = rows_of(DRY_RUN)
    assert [(row.rule, row.jobs, row.gpu_hours, row.core_hours) for row in rows] == [
        ("caption_dynamics", 2, 2.0, 3.0),
        ("build_tables", 1, 0.0, 0.5),
    ]
    assert table(rows).splitlines()[-1].split() == ["all", "3", "2", "4"]
