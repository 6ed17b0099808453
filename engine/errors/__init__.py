"""Every error states one fact and one remedy under a stable code, so that no traceback is needed to act.

Adapters translate foreign exceptions into these; nothing above an adapter sees ``MilvusException`` or ``httpx``. The
English templates are messages of the catalogue and the parameters are kept, so that a page can say the same error in
another language (:func:`message_of`).
"""

from engine.errors.base import *
from engine.errors.config import *
from engine.errors.evaluation import *
from engine.errors.jobs import *
from engine.errors.model import *
from engine.errors.people import *
from engine.errors.record import *
from engine.errors.recorded import *
from engine.errors.source import *
from engine.errors.store import *
from engine.errors.system import *
