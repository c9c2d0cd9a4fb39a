"""Entry point when the folder is run by path: load it as one package under a name no user module has, and with builtins
that no user module can replace."""

import builtins
import importlib
import importlib.util
import json
import os
import socket
import sys
import traceback
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Optional, Sequence

PACKAGE = "_triton_triage_worker"
_FAULT = 70
"""As in ``loop.py``, which may be what cannot be loaded."""
_HERE = Path(__file__).resolve().parent


class _Loader(SourceFileLoader):
    """Gives a module a copy of the builtins."""

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = dict(vars(builtins))
        super().exec_module(module)


class _Finder:
    """Finds this package's modules, for :class:`_Loader`."""

    @staticmethod
    def find_spec(name: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Optional[ModuleSpec]:
        package, *below = name.split(".")
        if package != PACKAGE or not below:
            return None
        here = _HERE.joinpath(*below)
        folder = [str(here)] if here.is_dir() else None
        file = str(here / "__init__.py") if folder else "%s.py" % here
        if folder:
            return importlib.util.spec_from_file_location(
                name, file, loader=_Loader(name, file), submodule_search_locations=folder
            )
        return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file))


def _load_package() -> None:
    # Run by path, Python put this folder first on sys.path, where its modules could shadow the user's.
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != _HERE]
    sys.meta_path.insert(0, _Finder)
    init = _HERE / "__init__.py"
    spec = importlib.util.spec_from_file_location(PACKAGE, init, submodule_search_locations=[str(_HERE)])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def _module(name: str) -> Any:
    return importlib.import_module("%s.%s" % (PACKAGE, name))


def main(mode: str, *arguments: str) -> None:
    """``nanny FD FOLDER``: the root of all processes, in triage's own interpreter. ``serve COMPILER FD``: a
    toolchain server on that socket. ``fresh FILE FD``: one compile, result on that pipe. ``bench FILE FD``: one case
    launched and timed, likewise."""
    leave, code = os._exit, _FAULT
    try:
        _load_package()
        fd = int(arguments[0] if mode == "nanny" else arguments[-1])
        os.set_inheritable(fd, False)
        if mode == "nanny":
            _module("nanny").serve(socket.socket(fileno=fd), Path(arguments[1]))
        elif mode == "serve":
            _module("server").serve_toolchain(socket.socket(fileno=fd), arguments[0])
        else:
            request = json.loads(Path(arguments[0]).read_text())
            if mode == "fresh":
                _module("child").run_fresh(request, fd)
            else:
                _module("bench").run(request, fd)
        code = 0
    except BaseException:  # shown in the log of the run
        traceback.print_exc()
    finally:
        leave(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
