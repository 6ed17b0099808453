"""Errors of indexes, bulk imports and vector files."""

from __future__ import annotations

from engine.errors import SourceError, StoreError
from engine.messages import N_

# A file of passages with their vectors holds something else.
NO_ROW = SourceError.row(
    N_("Line {row} of {name!r} is no JSON object."), N_("Write one passage a line: source, text, vector."), code="WB365"
)
ROW_WITHOUT = SourceError.row(
    N_("Row {row} of {name!r} has no {field}."), N_("Every row needs source, text and vector."), code="WB365"
)
FILE_DAMAGED = SourceError.row(
    N_("{name!r} cannot be read to its end: {why}."),
    N_("Write or copy the file again: it is damaged, or no {kind} file. What was put in before stays."),
    code="WB365",
)
ROW_WIDTH = SourceError.row(
    N_("The vector of row {row} of {name!r} is not {dim} finite numbers, as the model makes them."),
    N_("Choose the embedding model that made the vectors."),
    code="WB365",
)
SOURCE_TWICE = SourceError.row(
    N_("Source {source!r} comes a second time in row {row} of {name!r}."),
    N_("Let all rows of a source stand together, in one file."),
    code="WB365",
)
# An index or a bulk import is not what the store or the model can do.
NOT_IMPORTED = StoreError.row(
    N_("The Milvus server did not import passages into collection {collection!r}: {why}"),
    N_("See that it can read the folder under the name given to it, or load the files without bulk import."),
)
INDEX_FIXED = StoreError.row(
    N_("Collection {collection!r} is in the embedded store, which compares with every vector."),
    N_("Nothing needs to be done: every passage is found. An index is for a Milvus server."),
    code="WB241",
)
VECTORS_UNLIKE = StoreError.row(
    N_("The vectors for collection {collection!r} are not those of {model}: mean cosine {cosine}."),
    N_("Name the model that made them, with its prefixes, or ingest the texts instead."),
    code="WB244",
)
"""Vectors that another program made are not those of the model that questions will be embedded with."""
INVALID_INDEX = StoreError.row(
    N_("{kind!r} is no index of vectors."), N_("Use FLAT, IVF_FLAT, IVF_SQ8, HNSW or DISKANN."), code="WB242"
)
