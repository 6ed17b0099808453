"""People and their rights; without sign-in everybody is the one person at this machine."""

from engine.model.people import ROLES, Person, Role
from engine.people.acting import LOCAL, WORKBENCH, acting, acting_as, signing_in

__all__ = ["LOCAL", "ROLES", "WORKBENCH", "Person", "Role", "acting", "acting_as", "signing_in"]
