from verified_search.jobs import index_inputs, index_settings, indexed_code


rule build_search_index:
    """The index of a corpus for `verified search`. The record is the output: the index itself is in the same folder and
    outlives the job, so that a new video is added without a rebuild.
    """
    input:
        unpack(partial(index_inputs, settings)),
    output:
        record="results/{dataset}/search/{indexed}.json",
    log:
        "logs/{dataset}/build_search_index/{indexed}.log",
    wildcard_constraints:
        indexed="xml|reloclnet|hero|joint",
    conda:
        "../../envs/models.yaml"
    threads: settings.retrieval.threads
    resources:
        **needs(4000, minutes=240, disk_mb=5000),
    params:
        code=code_of("extensions/search/scripts/build_index.py"),
        settings=partial(index_settings, settings),
        model_code=indexed_code,
    script:
        "scripts/build_index.py"
