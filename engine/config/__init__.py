"""What a run is asked to do (:class:`RunConfig`) and the ranges its parameters may take."""

from engine.config.options import *
from engine.config.parameters import *
from engine.config.role_models import *
from engine.config.run_config import *
