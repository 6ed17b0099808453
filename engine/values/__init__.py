"""The values that a run is made of: frozen, comparable, without behaviour that calls anything."""

from engine.values.answers import *
from engine.values.attachments import *
from engine.values.calls import *
from engine.values.decisions import *
from engine.values.graphs import *
from engine.values.memories import *
from engine.values.names import *
from engine.values.record import *
from engine.values.rounds import *
from engine.values.sources import *
