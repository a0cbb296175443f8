"""The field around the paper: rows without training, forms of other benchmarks' submissions, and more exports."""

from verified.extension import Extension
from verified_field.config import Rows, check

EXTENSION = Extension(
    name="field",
    title="rows and forms of the field around the paper",
    sections={"field": Rows},
    is_on=lambda settings: settings.section(Rows).any,
    check=check,
    stages=("verified_field.stage:STAGE",),
    forms=("verified_field.forms:GRADED", "verified_field.forms:WINDOWS"),
    runs="verified_field.runs:runs",
    titles={"dense": "dense, zero-shot"},
    endings={"grounded": "+ LMM spans", "reranked": "+ re-ranker"},
    exports={
        "webdataset": "verified_field.exports.whole_rows:WEBDATASET",
        "csv": "verified_field.exports.whole_rows:CSV",
        "tvr": "verified_field.exports.retrieval_codes:TVR",
        "qvhighlights": "verified_field.exports.retrieval_codes:QVHIGHLIGHTS",
        "activitynet-captions": "verified_field.exports.retrieval_codes:ACTIVITYNET",
        "charades-sta": "verified_field.exports.retrieval_codes:CHARADES",
    },
    archives={"crate": "verified_field.exports.crate:archive"},
    tables=("verified_field.lmm",),
)
