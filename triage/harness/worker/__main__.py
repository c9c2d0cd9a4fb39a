"""Entry point when the folder is run by path: load it as one package under a name no user module has."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = "_triton_triage_worker"


def _bootstrap() -> None:
    here = Path(__file__).resolve().parent
    # Run by path, Python put this folder first on sys.path, where its modules could shadow the user's.
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != here]
    spec = importlib.util.spec_from_file_location(PACKAGE, here / "__init__.py", submodule_search_locations=[str(here)])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    importlib.import_module(PACKAGE + ".entry").main(sys.argv[1:])


if __name__ == "__main__":
    _bootstrap()
