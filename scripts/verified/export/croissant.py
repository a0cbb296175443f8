"""Croissant 1.1: a description of a folder of Parquet files for programs, with facts for responsible use.

The properties for responsible AI (RAI 1.0) that the Evaluations and Datasets track of NeurIPS 2026 asks for come from
two places. `export.statements` holds those that a person must state (limits, biases, personal information, uses,
impact); without a statement the property is absent. The run states its own facts: the evaluative role, generated rows,
the models behind them, the source.
"""

from collections.abc import Mapping
from pathlib import Path

from verified.export.collection import CAPTIONS, evaluative_role
from verified.io.files import file_digest

CONFORMS = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
STATEMENTS = {
    "limitations": "rai:dataLimitations",
    "biases": "rai:dataBiases",
    "sensitive_information": "rai:personalSensitiveInformation",
    "use_cases": "rai:dataUseCases",
    "social_impact": "rai:dataSocialImpact",
}
"""Key of `export.statements` → property."""

CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/",
    "cr": "http://mlcommons.org/croissant/", "prov": "http://www.w3.org/ns/prov#", "rai": "http://mlcommons.org/croissant/RAI/",
    "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The terms of Croissant 1.1, as its specification lists them, and those of PROV."""
TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float"}


def croissant(about: Mapping, name: str, folder: Path, files: Mapping[str, Path], columns: Mapping[str, type]) -> dict:
    """The description of Parquet files by split: each a file with its SHA-256, and a record set with all columns."""
    objects, records, holds = [], [], about.get("holds", CAPTIONS)
    for split, path in files.items():
        objects.append(
            {
                "@type": "cr:FileObject",
                "@id": f"file-{split}",
                "name": path.name,
                "contentUrl": path.relative_to(folder).as_posix(),
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file_digest(path),
            }
        )
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{column}",
                "name": column,
                "dataType": TYPES[kind],
                "source": {"fileObject": {"@id": f"file-{split}"}, "extract": {"column": column}},
            }
            for column, kind in columns.items()
        ]
        records.append({"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields})
    creators = [{"@type": "Organization", "name": creator} for creator in about["creators"]]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CONFORMS, RAI],
        "name": name,
        "description": " ".join(
            filter(None, (f"{about['title']}: {holds[0].lower()}{holds[1:]}", about.get("warning")))
        ),
        "license": about["licence"],
        "version": about["version"],
        **({"url": about["url"]} if about["url"] else {}),
        **({"creator": creators} if creators else {}),
        **responsible(about),
        "distribution": objects,
        "recordSet": records,
    }


def responsible(about: Mapping) -> dict:
    """Properties of RAI and PROV: those of `about["statements"]`, and facts of the run.

    Captions by models are synthetic data; nothing is stated of how given annotations were made.
    """
    properties: dict = {STATEMENTS[key]: text for key, text in about.get("statements", {}).items() if text}
    uses = properties.get(STATEMENTS["use_cases"])
    properties[STATEMENTS["use_cases"]] = [evaluative_role(about), *([uses] if uses else [])]
    if about["models"]:
        models = [f"{role}: {model}" for role, model in about["models"].items()]
        properties["rai:hasSyntheticData"] = True
        properties["rai:machineAnnotationTools"] = models
        properties["prov:wasGeneratedBy"] = {
            "@type": "prov:Activity",
            "name": f"verified-workflow, configuration {about['config']}",
            "prov:wasAssociatedWith": [{"@type": "prov:SoftwareAgent", "name": model} for model in models],
        }
    if about.get("source"):
        properties["prov:wasDerivedFrom"] = {"@type": ["prov:Entity", "sc:CreativeWork"], "name": about["source"]}
    return properties
