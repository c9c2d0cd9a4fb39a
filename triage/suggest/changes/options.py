"""Options of the launch: warps, stages, cluster size, and switches. They cost the user one word.

Clusters are the thinnest-tested of them, so a cluster of more than one block is undone first. Warps are tried
upwards first: more warps split a tile further and seldom lose the fast instruction; fewer often do.
"""

from collections.abc import Iterator, Mapping
from math import log2

from triage.suggest.configuration import DEFAULT_WARPS
from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_DEFAULT_STAGES = {"cuda": 3, "hip": 2}
"""``num_stages`` where a case does not state it."""
_PRECISION = "default_dot_input_precision"
_STAGES = (5, 4, 3, 2, 1)
_BACKEND_OPTIONS: Mapping[str, tuple[int | str, ...]] = {
    "matrix_instr_nonkdim": (0, 16, 32),
    "kpack": (1, 2),
    "waves_per_eu": (0, 1, 2),
    "schedule_hint": ("", "none"),
    "default_dot_input_precision": ("ieee", "tf32", "tf32x3"),
    "num_consumer_groups": (0, 1),
    "num_buffers_warp_spec": (0, 2),
}
"""Options of one back end or release and their usual values, safest first. Tried only where a case states them."""


def options(scene: Scene) -> Iterator[Proposal]:
    """All single changes of options."""
    ctas = scene.case.options.get("num_ctas")
    if isinstance(ctas, int) and ctas > 1:
        yield Proposal({"num_ctas": 1}, Move.OPTION, -1.0, 1, "one block in place of a cluster")
    yield from _warps(scene)
    yield from _stages(scene)
    yield from _switches(scene)
    yield from _precision(scene)


def _precision(scene: Scene) -> Iterator[Proposal]:
    """fp32 products as something other than TF32, where the kernel leaves that to the option: another instruction. On
    AMD the option is ``ieee`` as it is (triton/backends/*/compiler.py)."""
    if scene.case.target.backend != "cuda":
        return
    used = {keyword for keywords in scene.source.keywords.values() for keyword in keywords}
    fp32 = any(str(scene.case.signature.get(name)) == "*fp32" for name in scene.source.loaded)
    if not scene.source.dots or not fp32 or "input_precision" in used or _PRECISION in scene.case.options:
        return
    for index, value in enumerate(("ieee", "tf32x3")):
        why = f"fp32 products as {value} in place of tf32: more exact, and slower"
        yield Proposal({_PRECISION: value}, Move.OPTION, 2.4 + 0.3 * index, 3, why)


def _warps(scene: Scene) -> Iterator[Proposal]:
    now = scene.case.options.get("num_warps", DEFAULT_WARPS)
    for warps in (1, 2, 4, 8, 16, 32):
        if warps == now or warps > scene.max_warps:
            continue
        steps = log2(warps / now)
        prior = 0.9 + 0.45 * (abs(steps) - 1) + (0.2 if steps < 0 else 0)
        if wanted := scene.evidence.multiples:
            prior += -0.5 if any(warps % multiple == 0 for multiple in wanted) else 1.0
        why = f"{'more' if steps > 0 else 'fewer'} warps share the tile"
        yield Proposal({"num_warps": warps}, Move.OPTION, prior, abs(steps), why)


def _stages(scene: Scene) -> Iterator[Proposal]:
    now = scene.case.options.get("num_stages", _DEFAULT_STAGES[scene.case.target.backend])
    for stages in _STAGES:
        if stages == now:
            continue
        steps = stages - now
        # No pipelining at all takes whole passes out, so it is worth more than its distance says.
        prior = 1.15 if stages == 1 else 1.1 + 0.2 * abs(steps) + (0.9 if steps > 0 else 0)
        why = "no software pipelining" if stages == 1 else f"a pipeline of {stages} stages"
        yield Proposal({"num_stages": stages}, Move.OPTION, prior, abs(steps), why)


def _switches(scene: Scene) -> Iterator[Proposal]:
    for name, value in scene.case.options.items():
        for index, other in enumerate(_BACKEND_OPTIONS.get(name, ())):
            if other != value:
                yield Proposal({name: other}, Move.OPTION, 0.9 + 0.2 * index, 1, f"{name}={other!r}")
        if isinstance(value, bool):
            why = f"without {name}" if value else f"with {name}"
            yield Proposal({name: not value}, Move.FLAG, 1.0, 2, why)
    if scene.case.options.get("maxnreg") is not None:
        yield Proposal({"maxnreg": None}, Move.OPTION, 1.0, 1, "no cap on registers")
