"""Request of a run (:class:`RunConfig`) and the ranges of its parameters."""

from engine.model.config.defaults import *
from engine.model.config.registry import *
from engine.model.config.role_models import *
from engine.model.config.run_config import *
from engine.model.config.setting import *
