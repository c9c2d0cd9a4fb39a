"""Which failures are passed over, and where they are told of."""

import os
from pathlib import Path


def classify_triton_exception(error):
    return "debug" if "exceeds triton maximum tensor numel" in str(error) else "raise"


def dump(code, error):
    folder = os.environ.get("HELION_AUTOTUNER_TRITON_FAILURE_DUMP_DIR")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        text = f"# Triton failure report\n# triton version: 3.6.0\n# error: {type(error).__name__}\n\n{code}\n"
        (Path(folder) / "0.py").write_text(text)
