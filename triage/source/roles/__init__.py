"""What each parameter of a kernel means, inferred from its syntax tree: a tile, a size of the problem, a flag."""

from triage.source.roles.decide import Axis, ParameterRole, RoleKind, roles

__all__ = ["Axis", "ParameterRole", "RoleKind", "roles"]
