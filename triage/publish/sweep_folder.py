"""What ``triage sweep -o`` leaves beside the ledger: the map as a document, as a page, and its rules as a program."""

from pathlib import Path

from triage.files import replace_file, writing
from triage.sweeps import document
from triage.sweeps.map import SweepMap
from triage.sweeps.rules.program import module

MAP, RULES, PAGE = "map.json", "rules.py", "map.html"


def keep_sweep(folder: Path, sweep: SweepMap) -> None:
    """Write them. Raises EnvironmentFault where that cannot be."""
    headlines = {sweep.letters[failure.signature]: failure.headline for failure in sweep.failures}
    values = {**sweep.case.construct, **sweep.case.constexprs, **sweep.case.options}
    settings = " ".join(f"{name}={value}" for name, value in values.items() if name not in sweep.grid.positions)
    rules = module(sweep.case.name, sweep.grid, sweep.rules, len(sweep.observations), settings, headlines)
    with writing(f"-o {folder}"):
        replace_file(folder / MAP, "".join(document.json_text(sweep)), folder)
        replace_file(folder / RULES, rules, folder)
