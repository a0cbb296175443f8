"""The field around the paper: rows without training, forms of other benchmarks' submissions, and more exports."""

from verified.extension import Extension
from verified_field.config import Rows, check


def _stages():
    from verified_field.stage import STAGE

    return (STAGE,)


def _forms():
    from verified_field.forms import GRADED, WINDOWS

    return GRADED, WINDOWS


def _exports():
    from verified_field.exports.crate import CRATE
    from verified_field.exports.retrieval_codes import ACTIVITYNET, CHARADES, FIFTYONE, QVHIGHLIGHTS, TVR
    from verified_field.exports.whole_rows import CSV, WEBDATASET

    return {
        "webdataset": WEBDATASET,
        "csv": CSV,
        "tvr": TVR,
        "qvhighlights": QVHIGHLIGHTS,
        "activitynet-captions": ACTIVITYNET,
        "charades-sta": CHARADES,
        "fiftyone": FIFTYONE,
        "crate": CRATE,
    }


def _rows():
    from verified_field.runs import ROWS

    return ROWS


def _tables():
    from verified_field import lmm

    return (lmm,)


EXTENSION = Extension(
    name="field",
    title="rows and forms of the field around the paper",
    sections={"field": Rows},
    is_on=lambda settings: settings.section(Rows).any,
    check=check,
    stages=_stages,
    forms=_forms,
    exports=_exports,
    rows=_rows,
    tables=_tables,
)
