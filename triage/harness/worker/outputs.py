"""Outputs of a kernel: written by the first case that runs, compared by the others.

One file of raw bytes per output, read and written through torch's own mapping: numpy may be missing, and nothing is
unpickled.
"""

import json
import os
from pathlib import Path
from typing import Any, Dict, List

from .tensors import Input

_MOST_ELEMENTS = 1 << 25
"""Of one output. A larger one is compared at evenly spaced elements, 256 MB of fp64 at most."""
_ABOUT = "about.json"


def write(torch: Any, inputs: List[Input], names: List[str], folder: Path) -> None:
    """Write the outputs to ``folder``, and their description last: without it the process died meanwhile."""
    folder.mkdir(exist_ok=True)
    about: Dict[str, Any] = {"inputs": _inputs(inputs), "outputs": {}}
    for tensor in inputs:
        if tensor.name in names:
            values = _chosen(tensor).cpu()
            raw = values.view(torch.uint8)
            torch.from_file(_path(folder, tensor), shared=True, size=raw.numel(), dtype=torch.uint8).copy_(raw)
            dtype = str(values.dtype).partition(".")[2]
            about["outputs"][tensor.name] = {"dtype": dtype, "elements": values.numel(), "bytes": raw.numel()}
    unfinished = folder / (_ABOUT + ".part")
    unfinished.write_text(json.dumps(about))
    os.replace(unfinished, folder / _ABOUT)


def compare(torch: Any, inputs: List[Input], names: List[str], folder: Path) -> Dict[str, Any]:
    """The output that is furthest from its reference: ``absolute`` and ``relative`` to the reference's largest
    magnitude. Only ``incomparable`` when another torch made other inputs, or no reference has the output's name."""
    about = json.loads((folder / _ABOUT).read_text())
    both = [tensor for tensor in inputs if tensor.name in names and tensor.name in about["outputs"]]
    if about["inputs"] != _inputs(inputs) or not both:
        return {"incomparable": True}
    differences = [_difference(torch, tensor, about["outputs"][tensor.name], folder) for tensor in both]
    return max(differences, key=lambda each: (each["undefined"], each["relative"] is None, each["relative"] or 0.0))


def _difference(torch: Any, tensor: Input, about: Dict[str, Any], folder: Path) -> Dict[str, Any]:
    raw = torch.from_file(_path(folder, tensor), shared=False, size=about["bytes"], dtype=torch.uint8)
    values = _chosen(tensor)
    reference = raw.view(getattr(torch, about["dtype"])).to(values.device).to(torch.float64)
    values = values.to(torch.float64)
    both = values.isfinite() & reference.isfinite()
    same = (values == reference) | (values.isnan() & reference.isnan())
    undefined = int((~both & ~same).sum().item())
    largest = float(torch.where(both, reference, 0.0).abs().max().item())
    absolute = float(torch.where(both, values - reference, 0.0).abs().max().item())
    relative = absolute / largest if largest else (0.0 if absolute == 0.0 else None)
    return {
        "output": tensor.name,
        "absolute": absolute,
        "relative": relative,
        "undefined": undefined,
        "elements": about["elements"],
    }


def _chosen(tensor: Input) -> Any:
    flat = tensor.as_filled().reshape(-1)
    return flat[:: -(-flat.numel() // _MOST_ELEMENTS)].contiguous()


def _path(folder: Path, tensor: Input) -> str:
    return str(folder / (tensor.name + ".bin"))


def _inputs(inputs: List[Input]) -> Dict[str, int]:
    return {tensor.name: tensor.fingerprint for tensor in inputs}
