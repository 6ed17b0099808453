"""The values of a run: frozen, comparable, without behaviour that calls anything."""

from engine.model.values.answers import *
from engine.model.values.attachments import *
from engine.model.values.calls import *
from engine.model.values.chats import *
from engine.model.values.decisions import *
from engine.model.values.graphs import *
from engine.model.values.memories import *
from engine.model.values.names import *
from engine.model.values.origin import *
from engine.model.values.record import *
from engine.model.values.rounds import *
from engine.model.values.sources import *
from engine.model.values.surroundings import *
