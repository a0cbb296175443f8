"""The tables of long-form grounding."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.benchmark.published import read_published
    from verified.io.jsonl import read_json
    from verified.tables.table import write_table_json
    from verified_longform.manifest import summarise_reports
    from verified_longform.tables import all_tables

    inputs = snakemake.input
    layout = snakemake.params.layout
    sets = layout["sets"]

    def by_title(paths):
        return {sets[Path(path).parent.name]["title"]: read_json(path) for path in paths}

    results: dict[str, dict] = {name: {} for name in sets}
    mixtures = {}
    for path in map(Path, inputs.results):
        if path.name == "baselines.json":
            results[path.parent.name]["baselines"] = read_json(path)
        elif path.parent.name == "zero-shot":
            results[path.parent.parent.name]["zero-shot"] = read_json(path)
        else:
            name, training = path.parts[-4], path.parent.name
            if training == name:
                results[name]["vlg-net"] = read_json(path)
            if training in layout["mixtures"] and name == layout["mixture_test"]:
                mixtures[training] = read_json(path)
    statistics = []
    for path in map(Path, inputs.statistics):
        entry = read_json(path)
        comparable = entry["kind"] == "movies" and sets[path.parent.name]["comparable"]
        statistics.append({**entry, "comparable": comparable})
    tables = all_tables(
        statistics,
        results,
        mixtures,
        by_title(inputs.counts),
        {
            sets[Path(folder).parent.name]["title"]: summarise_reports(read_json(Path(folder, "report.json")))
            for folder in inputs.collected
        },
        by_title(inputs.collections),
        layout,
        read_published(inputs.published, "mad"),
    )
    write_table_json(snakemake.output.tables, tables)
