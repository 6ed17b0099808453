"""Who uses the workbench and what they may do; without sign-in everybody is the one person at this machine."""

from engine.people.acting import LOCAL, WORKBENCH, acting, acting_as, signing_in
from engine.people.values import ROLES, Person, Role

__all__ = ["LOCAL", "ROLES", "WORKBENCH", "Person", "Role", "acting", "acting_as", "signing_in"]
