"""Entry point when the folder is run by path: load it as one package under a name no user module has."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

PACKAGE = "_triton_triage_worker"


def _load_package() -> None:
    here = Path(__file__).resolve().parent
    # Run by path, Python put this folder first on sys.path, where its modules could shadow the user's.
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != here]
    spec = importlib.util.spec_from_file_location(PACKAGE, here / "__init__.py", submodule_search_locations=[str(here)])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def _module(name: str) -> Any:
    return importlib.import_module("%s.%s" % (PACKAGE, name))


def main(mode: str, *arguments: str) -> None:
    """``nanny FD FOLDER``: the root of all processes, in triage's own interpreter. ``serve FD``: a toolchain server on
    that socket. ``fresh FILE FD``: one compile, result on that pipe. ``bench FILE FD``: one case launched and timed,
    likewise."""
    _load_package()
    if mode == "nanny":
        _module("nanny").serve(socket.socket(fileno=int(arguments[0])), Path(arguments[1]))
    elif mode == "serve":
        _module("server").serve_toolchain(socket.socket(fileno=int(arguments[0])))
    else:
        request, result = json.loads(Path(arguments[0]).read_text()), int(arguments[1])
        if mode == "fresh":
            _module("child").run_fresh(request, result)
        else:
            _module("bench").run(request, result)


if __name__ == "__main__":
    code = 70  # loop.FAULT, which may be what cannot be imported
    try:
        main(*sys.argv[1:])
        code = 0
    except BaseException:  # shown in the log of the run
        traceback.print_exc()
    finally:
        os._exit(code)
