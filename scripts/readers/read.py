"""Readers of BLAST+'s formats: Biopython's, and csv and json of Python.

Each yields for each query its name, its number of hits, and all that was read.
"""
import csv
import json
import warnings
from xml.etree import ElementTree

from Bio import Blast, SearchIO
from Bio.Blast import NCBIXML

warnings.simplefilter("ignore")
# Those of -outfmt "6 std staxids sscinames stitle".
STANDARD = "qaccver saccver pident length mismatch gapopen qstart qend sstart send evalue bitscore"
TAXONOMY = " staxids sscinames stitle"


def columns(path):
    return (STANDARD + TAXONOMY if "parsed" in path.parts else STANDARD).split()


def search_io(name, path, **options):
    for query in SearchIO.parse(path, name, **options):
        yield query.id, len(query.hits), query


def tabular(path):
    return search_io("blast-tab", path, fields=columns(path))


def commented(path):
    return search_io("blast-tab", path, comments=True)


def comma_separated(path):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.reader(file, strict=True):
            if len(row) != len(columns(path)):
                raise ValueError(f"{len(row)} columns")
            yield row[0], 1, [row[:2], [float(number) for number in row[2:12]], row[12:]]


def ncbixml(path):
    with open(path, encoding="utf-8") as file:
        for record in NCBIXML.parse(file):
            yield record.query_id, len(record.alignments), record


def blast_xml(path):
    with open(path, "rb") as file:
        for record in Blast.parse(file):
            yield record.query.id, len(record), record


def blast_xml_files(path):
    for file in included(path):
        yield from blast_xml(file)


def included(path):
    """Returns the files that the index of format 13 or 14 names."""
    if path.name == "13":
        names = [file["File"] for file in json.loads(path.read_bytes())["BlastJSON"]]
    else:
        names = [include.get("href") for include in ElementTree.parse(path).getroot()]
    return [path.with_name(name) for name in names]


def refuse_constant(word):
    raise ValueError(f"{word} is not JSON")


def objects(path):
    """Yields the object of each query in formats 13 to 16, as pairs of names and values."""
    is_json, many = path.name in ("13", "15"), path.name in ("15", "16")
    for file in [path] if many else included(path):
        if is_json:
            document = json.loads(file.read_bytes(), parse_constant=refuse_constant)["BlastOutput2"]
            yield from map(json_leaves, document if many else [document])
        else:
            root = ElementTree.parse(file).getroot()
            yield from map(xml_leaves, root if many else [root])


def json_leaves(value, name=""):
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in json_leaves(part, f"{name}/{key}")]
    if isinstance(value, list) and value:
        return [leaf for part in value for leaf in json_leaves(part, name)]
    return [(name, "" if value == [] else str(value))]


def xml_leaves(element, name=""):
    """Returns texts with the names that JSON has: without those of types, which have a capital."""
    leaves = []
    for part in element:
        tag = part.tag.split("}")[1].replace("-", "_")
        below = name if tag[0].isupper() else f"{name}/{tag}"
        text = part.text or ""
        leaves += xml_leaves(part, below) or [(below, "" if text.isspace() else text)]
    return leaves


def schema_names(path):
    for leaves in objects(path):
        queries = [value for name, value in leaves if name.endswith("/query_id")]
        hits = sum(name.endswith("/hits/num") for name, _ in leaves)
        yield queries[0], hits, leaves


READERS = {
    "SearchIO blast-text": ("0", lambda path: search_io("blast-text", path)),
    "SearchIO blast-xml": ("5", lambda path: search_io("blast-xml", path)),
    "NCBIXML": ("5", ncbixml),
    "Bio.Blast of XML": ("5", blast_xml),
    "SearchIO blast-tab": ("6", tabular),
    "SearchIO blast-tab with comments": ("7", commented),
    "csv": ("10", comma_separated),
    "json of files": ("13", schema_names),
    "Bio.Blast of files": ("14", blast_xml_files),
    "json": ("15", schema_names),
    "Bio.Blast of XML2": ("16", blast_xml),
}


def values(thing, path=""):
    """Yields all numbers and texts in an object of a reader, with the names that lead there."""
    thing = thing.tolist() if hasattr(thing, "tolist") else thing
    named = list(getattr(thing, "__dict__", {}).items())
    named += [(name, getattr(thing, name)) for name in getattr(type(thing), "__slots__", ())]
    if isinstance(thing, dict):
        named = list(thing.items())
    elif isinstance(thing, (list, tuple)):
        named += enumerate(thing)
    for name, part in named:
        yield from values(part, f"{path}/{name}")
    if not named and not callable(thing):
        yield f"{path} {thing!r}"
