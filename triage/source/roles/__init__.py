"""What each parameter of a kernel means, inferred from its syntax tree: a tile, a size of the problem, a flag."""

from triage.source.roles.decide import roles
from triage.source.roles.role import Axis, ParameterRole, RoleKind

__all__ = ["Axis", "ParameterRole", "RoleKind", "roles"]
