"""The rules as a Python module: a predicate, a pruning function for ``triton.autotune``, restrictions for Kernel Tuner.

The module needs the standard library alone; what only a launch knows (types of arguments, target, release) it asks of
the arguments and of Triton.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pprint import pformat
from string import Template
from typing import Any

from triage.sweeps.grid import Grid
from triage.sweeps.rule import SweepRule

_TEXT = Template(
    '''"""Configurations of $kernel that do not compile, by $count rules that rest on $compiled compiles.

What was not swept was $settings.
"""

AXES = $axes
# The values that were swept. Of others the rules say nothing.

RULES = [
$rules
]
# A sentence, and whether it holds for a configuration.


def illegal(**values):
    """Why a configuration does not compile; None where no rule says so. ``values``: one for each of AXES."""
    if any(values[name] not in axis for name, axis in AXES.items()):
        return None
    return next((text for text, holds in RULES if holds(**values)), None)


def early_config_prune(configs, named_args, **fixed):
    """For triton.autotune(configs, key, prune_configs_by={"early_config_prune": early_config_prune}): without the
    configurations that do not compile. One of which a value is not known stays."""
    kept = []
    launch = {**_launch(named_args), **fixed}
    for config in configs:
        values = {**launch, **config.all_kwargs()}
        known = {name: values[name] for name in AXES if values.get(name) is not None}
        if len(known) < len(AXES) or illegal(**known) is None:
            kept.append(config)
    return kept


def restrictions(**fixed):
    """For Kernel Tuner: tune_kernel(…, restrictions=restrictions()). ``fixed``: values of the axes that are not
    tuned."""

    def compiles(values):
        return illegal(**{name: {**fixed, **values}[name] for name in AXES}) is None

    return compiles


def _launch(named_args):
    """What the launch tells: the arguments and their types, the target, the release of Triton."""
    values = dict(named_args)
    for name, argument in named_args.items():
        dtype = _DTYPES.get(str(getattr(argument, "dtype", "")).rpartition(".")[2])
        if name in AXES and dtype:
            values[name] = next((text for text in AXES[name] if str(text).lstrip("*") == dtype), dtype)
    if "triton" in AXES or "target" in AXES:
        import triton

        values["triton"] = triton.__version__
        target = triton.runtime.driver.active.get_current_target()
        values["target"] = f"{target.backend}:{target.arch}"
    return values


_DTYPES = $dtypes
'''
)
_DTYPES = {
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
}
"""Names of torch's types in the annotations of a signature (Triton, runtime/jit.py: type_canonicalisation_dict)."""


def module(
    kernel: str, grid: Grid, rules: Sequence[SweepRule], compiled: int, settings: str, headlines: Mapping[str, str]
) -> str:
    """The text of ``rules.py``. ``settings``: the configuration of the case; ``headlines``: by letter."""
    return _TEXT.substitute(
        kernel=_plain(kernel),
        count=len(rules),
        compiled=compiled,
        settings=_plain(settings) or "as in the case",
        axes=pformat({axis.name: list(axis.values) for axis in grid.axes}, width=116, sort_dicts=False),
        rules="\n".join(_rule(rule, headlines) for rule in rules),
        dtypes=pformat(_DTYPES, width=116, sort_dicts=False),
    )


def _rule(rule: SweepRule, headlines: Mapping[str, str]) -> str:
    reason = headlines.get(rule.failure or "")
    text = f"{rule.text}: {reason}" if reason else rule.text
    names = ", ".join(dict.fromkeys((*rule.names, "**_")))
    return f"    ({text!r}, lambda {names}: {rule.python}),"


def _plain(text: Any) -> str:
    """Text that may stand in a docstring: not ended by what a name or a value holds."""
    return str(text).replace("\\", "/").replace('"', "'")
