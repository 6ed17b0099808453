"""People and their rights; without sign-in everybody is the one person at this machine."""

from engine.model.people import ROLES, Person, Role
from engine.people.current_user import LOCAL, WORKBENCH, acting_as, current_user, signing_in

__all__ = ["LOCAL", "ROLES", "WORKBENCH", "Person", "Role", "acting_as", "current_user", "signing_in"]
