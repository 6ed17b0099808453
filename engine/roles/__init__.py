"""The roles of a run as Protocols; each has one contract suite under ``tests/contracts`` that every version passes."""

from engine.roles.answering import *
from engine.roles.further import *
from engine.roles.grading import *
from engine.roles.graph import *
from engine.roles.judging import *
from engine.roles.rewriting import *
from engine.roles.routing import *
from engine.roles.store import *
from engine.roles.trace import *
