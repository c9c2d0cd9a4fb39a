"""Loaded by every Python that a program starts under ``triage run``, because its folder is first in PYTHONPATH.

It removes that folder from the path, waits for an import of a compiler, and hands over to the sitecustomize that would
have been loaded otherwise. It runs in interpreters of any age and in programs that never import a compiler: it imports
nothing that is not loaded anyway and uses no syntax that an old one cannot parse."""

import os
import sys

from _triton_triage_awaiting import AwaitingFinder as _Finder  # type: ignore[import-not-found]

if False:
    from typing import Any  # noqa: F401 - for the types in comments; importing it takes as long as all else here

_HERE = os.path.dirname(os.path.abspath(__file__))
_RUN = os.environ.get("TRITON_TRIAGE_CAPTURE", "")
_COMPILE_ONLY = os.environ.get("TRITON_TRIAGE_COMPILE_ONLY", "")
_PACKAGE = "_triton_triage_capture"


def _load():
    # type: () -> None
    """Load ``capture/program`` under a name of its own."""
    if _PACKAGE in sys.modules:
        return
    util = __import__("importlib.util").util
    folder = os.path.join(os.path.dirname(_HERE), "program")
    spec = util.spec_from_file_location(
        _PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)


def _watch(compiler):
    # type: (Any) -> None
    _load()
    __import__(_PACKAGE + ".watch").watch.install(compiler)
    if _COMPILE_ONLY:
        _pretend(compiler)


def _watch_cute(cute):
    # type: (Any) -> None
    _load()
    __import__("importlib").import_module(_PACKAGE + ".cute.watch").install(cute)


def _pretend(module):
    # type: (Any) -> None
    """With ``--compile-only``: replace what would need a GPU."""
    _load()
    __import__(_PACKAGE + ".fake.install").fake.install.loaded(module)


def _inherit(module):
    # type: (Any) -> None
    """Keep this folder in the path of Inductor's compile workers. Inductor starts them with its own process's
    ``sys.path`` as PYTHONPATH (torch/_inductor/utils.py, python_subprocess_env), which no longer has this folder;
    TORCH_CUSTOM_PYTHONPATH overrides it."""
    path = os.environ.get("TORCH_CUSTOM_PYTHONPATH") or os.pathsep.join(sys.path)
    os.environ["TORCH_CUSTOM_PYTHONPATH"] = os.pathsep.join([_HERE, path])


_AWAITED = {
    "triton.compiler.compiler": _watch,
    "cutlass.cute": _watch_cute,
    "torch._inductor.compile_worker.subproc_pool": _inherit,
}
if _COMPILE_ONLY:
    _AWAITED.update(
        {
            "triton.runtime.driver": _pretend,
            "triton.runtime.autotuner": _pretend,
            "triton.testing": _pretend,
            "torch": _pretend,
            "torch._inductor.config": _pretend,
            "torch._inductor.runtime.benchmarking": _pretend,
        }
    )


def _note():
    # type: () -> None
    """Record a fault of triage's own in the run folder, and nowhere else."""
    try:
        text = __import__("traceback").format_exc()
        with open(os.path.join(_RUN, "note-%d.txt" % os.getpid()), "a") as file:
            file.write(text)
    except Exception:
        pass


def _leave_path():
    # type: () -> None
    """Restore the path that the program has without triage; its children find this folder through PYTHONPATH."""
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)


_leave_path()
# No Triton supports an older Python; Python 2 has another kind of finders.
if sys.version_info >= (3, 8) and os.path.isdir(_RUN):
    sys.meta_path.insert(0, _Finder(_AWAITED, _note))

# Import the sitecustomize that the program has without triage; without one, this raises the ImportError that `site`
# expects.
sys.modules.pop("_triton_triage_awaiting", None)
sys.modules.pop(__name__, None)
__import__("sitecustomize")
