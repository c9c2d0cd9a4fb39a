"""What a kernel wrote: kept by the first case that runs, compared by the others.

A file an output, raw bytes, read and written through torch's own mapping: numpy may be missing, and nothing is
unpickled.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List

from .tensors import Made

_MOST_ELEMENTS = 1 << 25
"""Of one output. A larger one is compared at evenly spaced elements, 256 MB of fp64 at most."""
_ABOUT = "about.json"


def keep(torch: Any, made: List[Made], names: List[str], folder: Path) -> None:
    """Write the outputs to ``folder``, what they are last: a folder without it was left by a process that died."""
    folder.mkdir(exist_ok=True)
    about: Dict[str, Any] = {"inputs": _inputs(made), "outputs": {}}
    for one in made:
        if one.name in names:
            values = _chosen(one).cpu()
            raw = values.view(torch.uint8)
            torch.from_file(_path(folder, one), shared=True, size=raw.numel(), dtype=torch.uint8).copy_(raw)
            dtype = str(values.dtype).partition(".")[2]
            about["outputs"][one.name] = {"dtype": dtype, "elements": values.numel(), "bytes": raw.numel()}
    unfinished = folder / (_ABOUT + ".part")
    unfinished.write_text(json.dumps(about))
    os.replace(unfinished, folder / _ABOUT)


def compare(torch: Any, made: List[Made], names: List[str], folder: Path) -> Dict[str, Any]:
    """The output that is furthest from the kept ones: ``absolute`` and ``relative`` to the kept one's largest
    magnitude. Or ``incomparable`` alone: another torch made other inputs, or no output has been kept under its name."""
    about = json.loads((folder / _ABOUT).read_text())
    both = [one for one in made if one.name in names and one.name in about["outputs"]]
    if about["inputs"] != _inputs(made) or not both:
        return {"incomparable": True}
    found = [_difference(torch, one, about["outputs"][one.name], folder) for one in both]
    return max(found, key=lambda one: (one["undefined"], one["relative"] is None, one["relative"] or 0.0))


def _difference(torch: Any, one: Made, about: Dict[str, Any], folder: Path) -> Dict[str, Any]:
    raw = torch.from_file(_path(folder, one), shared=False, size=about["bytes"], dtype=torch.uint8)
    values = _chosen(one)
    kept = raw.view(getattr(torch, about["dtype"])).to(values.device).to(torch.float64)
    values = values.to(torch.float64)
    both = values.isfinite() & kept.isfinite()
    same = (values == kept) | (values.isnan() & kept.isnan())
    undefined = int((~both & ~same).sum().item())
    largest = float(torch.where(both, kept, 0.0).abs().max().item())
    absolute = float(torch.where(both, values - kept, 0.0).abs().max().item())
    relative = absolute / largest if largest else (0.0 if absolute == 0.0 else None)
    return {
        "output": one.name,
        "absolute": absolute,
        "relative": relative,
        "undefined": undefined,
        "elements": about["elements"],
    }


def _chosen(one: Made) -> Any:
    flat = one.as_filled().reshape(-1)
    return flat[:: -(-flat.numel() // _MOST_ELEMENTS)].contiguous()


def _path(folder: Path, one: Made) -> str:
    return str(folder / (one.name + ".bin"))


def _inputs(made: List[Made]) -> Dict[str, int]:
    return {one.name: one.fingerprint for one in made}
