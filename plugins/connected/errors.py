"""Collections of other programs."""

from __future__ import annotations

from engine.errors.base import Message
from engine.errors.store import StoreError
from engine.messages import N_


class ConnectionsDamaged(StoreError):
    code = "WB228"
    kept_aside = Message(
        N_("The file of connections could not be read and was kept as {path!r}: {why}."),
        N_("Connect the collections again on the page Knowledge, view Connect, or repair that file."),
    )
    bad_row = Message(
        N_("The connection {name!r} in {place!r} could not be read: {why}."),
        N_("Connect the collection under this name again on the page Knowledge, view Connect."),
    )
    no_database = Message(N_("The connections in {place!r} cannot be used: {cause}."), N_("{advice}."))
    not_written = Message(
        N_("The connections could not be written to {unwritten!r}: {why}."),
        N_("Free some space, or make the folder of WORKBENCH_DATA_DIR writable."),
    )


class TextlessCollection(StoreError):
    """Known by its class, because rows that are not there yet may bring a field with text."""

    code = "WB226"
    fact = N_("Collection {name!r} has no field with text next to its vectors.")
    remedy = N_("Choose another collection: without their text, passages can be neither graded nor cited.")


class SecretKeyUnfit(StoreError):
    """Tokens of connections cannot be encrypted or decrypted here."""

    code = "WB518"
    of_another = Message(
        N_("The tokens of connections in {place!r} were encrypted with another key than that of this machine."),
        N_(
            "Set WORKBENCH_SECRET_KEY to the same key for all replicas; the workbench that made it has it in {file} of "
            "its data folder."
        ),
    )
    no_package = Message(
        N_("Tokens of connections cannot be encrypted: the package cryptography is not installed."),
        N_("Run `{command}`, then start the workbench again."),
        package="cryptography",
    )
    not_kept = Message(
        N_("The key that encrypts tokens of connections cannot be kept in {path!r}: {why}."),
        N_("Set WORKBENCH_SECRET_KEY, or make the folder of WORKBENCH_DATA_DIR writable."),
    )


# What was given is no address of a Milvus, or no folder of Milvus Lite.
NO_ADDRESS = StoreError.row(
    N_("{given!r} is not the address of a Milvus."),
    N_("Write `http://host:19530`, `https://…`, or the path of a Milvus Lite folder that ends in `.db`."),
    code="WB222",
)
NO_FOLDER = StoreError.row(
    N_("There is no Milvus Lite folder at {path!r}."),
    N_("Correct the path; it is the one that the other program gives to its Milvus client."),
    code="WB222",
)
SINGLE_FILE = StoreError.row(
    N_("{file!r} is one file, but Milvus Lite keeps a folder since version 3."),
    N_("Open it once with the Milvus Lite that made it, and copy its collections to a newer one."),
    code="WB222",
)
UNREACHABLE = StoreError.row(
    N_("The Milvus at {address} does not answer."),
    N_("Start it, or correct the address; a connection stays and works again once it answers."),
    code="WB223",
    status=503,
)
TOKEN_REFUSED = StoreError.row(
    N_("The Milvus at {address} refused the token."),
    N_("Connect again with a token (`user:password` or an API key) of an account that may read there."),
    code="WB224",
)
UNKNOWN_DATABASE = StoreError.row(
    N_("The Milvus at {address} has no database named {database!r}."),
    N_("Correct the name of the database, or leave it empty for the one named `default`."),
    code="WB225",
)
# A collection that is there, but that questions cannot be answered from.
OTHER_VECTORS = StoreError.row(
    N_("Collection {name!r} has no vectors of 32-bit floats: its vectors are {types}."),
    N_("Choose another collection, or have the other program store FLOAT_VECTOR as well."),
    code="WB226",
)
NO_VECTORS = StoreError.row(
    N_("Collection {name!r} holds no vectors."),
    N_("Choose a collection that holds passages with their vectors."),
    code="WB226",
)
NO_INDEX = StoreError.row(
    N_("The vectors {unindexed!r} of collection {name!r} have no index, so this server does not search them."),
    N_("Have the other program create an index on that field; nothing is created from here."),
    code="WB226",
)
OTHER_METRIC = StoreError.row(
    N_("Collection {name!r} compares its vectors by {metric}, which says nothing about meaning."),
    N_("Choose a collection with the metric COSINE, IP or L2."),
    code="WB226",
)
UNREADABLE = StoreError.row(
    N_("Collection {name!r} cannot be read: {why}"),
    N_("Look at the log of the store, or choose another collection."),
    code="WB226",
)
GONE = StoreError.row(
    N_("There is no collection {gone!r} at {address} any more."),
    N_("Disconnect it, or have the other program make it again."),
    code="WB226",
)
CHANGED = StoreError.row(
    N_("Collection {name!r} no longer has the field {field!r} as it was when it was connected."),
    N_("Disconnect it and connect it again with the fields it has now."),
    code="WB226",
)
LOCKED = StoreError.row(
    N_("The Milvus Lite folder {path!r} is open in another program."),
    N_("Close that program and try again: such a folder can be open in one program at a time."),
    code="WB227",
)
