"""The GPU that a file of tuned configurations was tuned on, by its name.

vLLM and SGLang write ``…,device_name=NVIDIA_H100_80GB_HBM3,….json``, LightLLM ``{K=512,N=2048,…}_NVIDIA_H200.json``
(lightllm/common/kernel_config.py, get_config_file_name).
"""

from __future__ import annotations

import re

from triage.model import gpus
from triage.model.target import Target

_DEVICE = re.compile(r"device_name=(?P<stated>[^,/]+?)(?:_down)?(?:,[^/]*)?\.json|\}_(?P<after>[^/]+)\.json")


def tuned_for(name: str) -> Target | None:
    """The target of the GPU in a file's name; None where there is none, or one that the table of GPUs lacks."""
    match = _DEVICE.search(name)
    device = (match["stated"] or match["after"]).replace("_", " ") if match is not None else ""
    return next(map(Target.parse, gpus.named(device)), None)
