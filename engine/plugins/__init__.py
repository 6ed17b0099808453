"""Declaration of a plug-in (:class:`Plugin`), and discovery of those next to the engine and in other wheels.

A declaration is imported by every start, so it imports what it needs in its functions. The core asks declarations
and imports no plug-in.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from pydantic import BaseModel

from engine.errors import HostError
from engine.model.events import Event
from engine.model.people import Person
from engine.model.values import RunId
from engine.version import ROOT, install_command

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.types import ASGIApp

GROUP = "rag_workbench.plugins"
"""Entry points of other wheels: the name is the plug-in's, the value leads to its :class:`Plugin`."""
Place = Literal[
    "programs",
    "saved_settings",
    "take_along",
    "runs",
    "imported_runs",
    "collection",
    "gathering",
    "system",
    "sign_in",
    "person",
    "knowledge",
]
"""Where a panel may stand. ``programs`` returns a ``components.system.ways.Way``, a card in System, Other programs;
``saved_settings`` draws below the form of Tune that saves settings, ``runs`` above the list of Runs, and
``imported_runs`` where records of other programs are shown, which it is given with a ``key`` and their ``set_name``.
``take_along`` returns the name of a tab of *Take them along*, a sentence, and what draws a button from a ``RunConfig``
and a key, there and in *Share* of a run. ``collection`` returns a ``components.knowledge.collection_cards.Addition``
to collections on Knowledge, or None, ``knowledge`` a ``pages.parts.knowledge.state.AddedView`` of that page.
``gathering`` draws in the form of Tune that runs so many
questions, which it is given too. ``system`` returns a part of System as its name in addresses, its title and what draws
it, or None where it is not for who looks. Where people sign in, ``sign_in`` stands in place of every page until they
have, and ``person`` at the top of every page after that."""
_FOLDER = ROOT / "plugins"
_log = logging.getLogger(__name__)


class Part:
    """Addition of a plug-in to an engine; returned by ``engine.part``."""

    @classmethod
    def of(cls, engine: Any) -> Self:
        """Return that of an engine which always has it."""
        found: Self | None = engine.part(cls)
        assert found is not None
        return found

    def note(self, run_id: RunId, event: Event) -> None:
        """Take an event of a run of this process, in order; nothing else may be waited for."""

    def room(self) -> AbstractContextManager[None]:
        """Within it who acts may begin a run; raises where they may not now."""
        return nullcontext()

    def close(self) -> None:
        """Let go of what is held, within seconds; runs have ended, their records are still there."""


@dataclass(frozen=True, slots=True)
class Inside:
    """Engine internals shared with its parts, and with no page."""

    faults: Any
    """``NotedFaults``."""
    loop: Any
    """``LoopThread``."""
    store: Any
    """``RunStore``; no right is asked for."""


class SignIn(Protocol):
    """Sign-in of people, and identification of callers."""

    def of_token(self, text: str) -> Person:
        """Who a bearer token stands for, with what is kept from them; blocks. Raises ``NotSignedIn``."""

    def api(self, app: ASGIApp, open_path: str = "") -> ASGIApp:
        """Put a guard in front of an API that says who acts, and lets strangers through to the one open path alone."""

    def pages(self, base: str) -> Middleware:
        """Stands in front of pages, with ``base`` before every path of them."""


@dataclass(frozen=True, slots=True)
class Front:
    """The app that middleware stands in front of."""

    get_engine: Callable[[], Any]
    settings: Any
    """``Settings``."""
    sign_in: SignIn | None
    """None where people do not sign in."""
    base: str
    """What stands before every path of the app."""
    heartbeat_s: float
    """A stream is silent for no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """All that the core asks a plug-in for; what it leaves out, it does not have.

    >>> hello = Plugin(name="hello", title="Hello", modules=("hello_client",), packages="hello-client")
    >>> "hello-client" in hello.missing
    True
    """

    name: str
    """Of its folder or its entry point."""
    title: str
    """For people, marked as a message."""
    modules: tuple[str, ...] = ()
    """Modules of other packages without which it is *not installed*."""
    packages: str = ""
    """The packages that bring them, as ``pip install`` takes them, parted by spaces."""
    settings: type[BaseModel] | None = None
    """Fields, each a ``WORKBENCH_`` variable, with default and description; ``Settings.of`` gives their values."""
    check: Callable[[Any], None] | None = None
    """Raises a ``WorkbenchError`` for ``Settings`` that ask for what is not installed; the app does not start then."""
    open: Callable[[Any, Inside], Part | Sequence[Part] | None] | None = None
    """Its parts of an ``Engine``; none where the settings do not ask for them."""
    routes: Callable[[Any, Callable[[], Any]], None] | None = None
    """Adds routes to the ``FastAPI`` of ``/api``, over what gives the ``Engine``."""
    outermost: Callable[[Front], Sequence[Middleware]] | None = None
    """Stands in front of those guards, such as to put their errors into another form."""
    sign_in: Callable[[Any], SignIn | None] | None = None
    """Requires an ``Engine``'s people to sign in from now on; None where nothing asks for it."""
    middleware: Callable[[Front], Sequence[Middleware]] | None = None
    """Stands behind the guards of pages and API, in front of both; asked for also where packages are missing."""
    uploads: tuple[str, ...] = ()
    """Ends of paths, such as ``/api/hello``, whose requests bring files and may be as large as these."""
    commands: Callable[[Any], None] | None = None
    """Adds subcommands to ``argparse``'s ``add_subparsers()``; they set ``command``, which returns the exit code."""
    bad_use: tuple[str, ...] = ()
    """Codes of its errors that end a command with 2: it asked for something wrong."""
    database: Callable[[Any], Any] | None = None
    """Opens the ``Database`` that ``Settings.database_url`` names for all records, also where packages are missing."""
    graphs: Callable[[Any], Any] | None = None
    """The ``engine.knowledge.graph.place.GraphHome`` that ``Settings`` name, also where packages are missing; None
    where they name none."""
    executor: Callable[[Any, Any, int, int], Any] | None = None
    """Runs the blocks of a job in other processes: given ``Settings``, the ``Recipe`` of ``engine.distributed``, how
    many blocks there are and how many a process does at once, returns an ``Executor``; None leaves them to threads of
    this process. Raises a ``WorkbenchError`` where the settings ask for what cannot be had."""
    jobs: Mapping[str, Callable[[Any, Any, Any], Awaitable[Any]]] = field(default_factory=dict)
    """What does the jobs of a kind, given the ``KnowledgeBase``, the ``Manifest`` and what takes ``Progress``; returns
    an ``IngestReport``."""
    collections: Callable[[Any, Any], Any] | None = None
    """The ``engine.knowledge.connected.ConnectedCollections`` that it serves, for ``Settings`` and ``Databases``."""
    tables: Callable[[Any, Any, Any], Callable[[], Any]] | None = None
    """Looks at what it keeps in files or in a database, given ``Settings`` and the ``Databases`` to copy from and to;
    returns what copies that and returns a ``MovedTable``. Raises ``RecordError`` before anything is written."""
    panels: Mapping[Place, Callable[..., Any]] = field(default_factory=dict)
    """Drawn from the ``Engine`` and the ``Words`` of the page, by where it stands."""

    @property
    def missing(self) -> str:
        """The command that installs what it lacks; empty where it is installed."""
        return "" if all(map(_there, self.modules)) else install_command(self.packages)


@cache
def plugins() -> tuple[Plugin, ...]:
    """Every plug-in that could be loaded, by name."""
    return tuple(plugin for _, plugin in sorted(_loaded().items()) if isinstance(plugin, Plugin))


def broken() -> dict[str, str]:
    """Return why plug-ins could not be loaded, by name."""
    return {name: why for name, why in _loaded().items() if isinstance(why, str)}


def opened(engine: Any, inside: Inside) -> tuple[Part, ...]:
    """The parts of an engine that plug-ins bring; raises what ``check`` does."""
    parts: list[Part] = []
    for plugin in plugins():
        if plugin.check is not None:
            plugin.check(engine.settings)
        if plugin.open is not None and not plugin.missing:
            found = plugin.open(engine, inside)
            parts += [found] if isinstance(found, Part) else found or ()
    return tuple(parts)


@contextmanager
def room(parts: Sequence[Part]) -> Iterator[None]:
    """Within it every part lets who acts begin a run."""
    with ExitStack() as rooms:
        for part in parts:
            rooms.enter_context(part.room())
        yield


def sign_in(engine: Any) -> SignIn | None:
    """Set how people sign in at an engine from now on; None if they do not."""
    found = (plugin.sign_in(engine) for plugin in plugins() if plugin.sign_in is not None)
    return next((item for item in found if item is not None), None)


def panels(place: Place) -> list[Callable[..., Any]]:
    """The panels of a place, in the order of their plug-ins."""
    return [plugin.panels[place] for plugin in plugins() if place in plugin.panels]


def executor_of(settings: Any, recipe: Any, blocks: int, at_once: int) -> Any:
    """Return what runs the blocks of a job instead of this process's threads, from ``Plugin.executor``; else None."""
    offers = (plugin.executor for plugin in plugins() if plugin.executor is not None)
    made = (offer(settings, recipe, blocks, at_once) for offer in offers)
    return next((executor for executor in made if executor is not None), None)


def job_of(name: str, kind: str) -> Callable[[Any, Any, Any], Awaitable[Any]]:
    """Return a plug-in's handler for a kind of jobs; raises ``HostError.plugin_missing``."""
    for plugin in plugins():
        if plugin.name == name:
            return plugin.jobs[kind]
    raise HostError.plugin_missing(name=name)


@cache
def _loaded() -> dict[str, Plugin | str]:
    """Declarations by name, or why there is none; the name of one of ours is never another wheel's."""
    # Imported here: it takes longer than all that is above.
    from importlib.metadata import entry_points

    theirs = {entry.name: entry.load for entry in entry_points(group=GROUP)}
    ours = {name: _ours(name) for name in _folders()}
    return {name: _tried(name, load) for name, load in (theirs | ours).items()}


def _folders() -> list[str]:
    return [path.parent.name for path in _FOLDER.glob("*/plugin.py")]


def _tried(name: str, load: Callable[[], Any]) -> Plugin | str:
    try:
        found = load()
    except Exception as failure:
        _log.exception("the plug-in %s was not loaded", name)
        return f"{type(failure).__name__}: {failure}"
    return found if isinstance(found, Plugin) else f"it is no Plugin but a {type(found).__name__}"


def _ours(name: str) -> Callable[[], Any]:
    def load() -> Any:
        there = sys.modules.get(_FOLDER.name)
        if there is None:
            # Without a search, in which a folder of that name in the caller's project would win.
            _import_folder()
        elif Path(there.__file__ or "").parent != _FOLDER:
            raise ImportError(f"this program has a module plugins of its own ({there.__file__})")
        return import_module(f"{_FOLDER.name}.{name}.plugin").PLUGIN

    return load


def _import_folder() -> None:
    places = [str(_FOLDER)]
    spec = spec_from_file_location(_FOLDER.name, _FOLDER / "__init__.py", submodule_search_locations=places)
    assert spec is not None and spec.loader is not None
    module = sys.modules[_FOLDER.name] = module_from_spec(spec)
    spec.loader.exec_module(module)


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False
