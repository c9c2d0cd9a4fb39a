"""Found by every Python that a program starts under ``triage run``, because its folder is first in PYTHONPATH.

It takes that folder off the path again, waits for an import of Triton's compiler, and hands over to the sitecustomize
that would have been found without it. It runs in interpreters of any age and in programs that never see Triton: no
imports but what is loaded anyway, no syntax that an old one cannot read.
"""

import os
import sys

if False:
    from typing import Any  # noqa: F401 - for the types in comments; importing it takes as long as all else here

_HERE = os.path.dirname(os.path.abspath(__file__))
_RUN = os.environ.get("TRITON_TRIAGE_CAPTURE", "")
_PACKAGE = "_triton_triage_capture"


class _Finder(object):
    """Finds nothing itself: it has what another finder found seen to once it is loaded."""

    def find_spec(self, name, path=None, target=None):
        # type: (str, Any, Any) -> Any
        """The spec of an awaited module, which tells when that is loaded; None for all others."""
        then = _AWAITED.pop(name, None)
        if then is None:
            return None
        spec = _import("importlib.util").util.find_spec(name)
        try:
            _tell(spec, then)
        except Exception:  # a spec of another making: the program goes on unwatched
            pass
        return spec


def _tell(spec, then):
    # type: (Any, Any) -> None
    """See to the module when it is loaded. A loader around its own would be one more frame in the traceback of a module
    that fails; so it is the spec that tells, when the import system says to it that the module is no longer new."""
    kind = type(spec)

    class Telling(kind):  # type: ignore[misc,valid-type]
        def __setattr__(self, name, value):
            # type: (str, Any) -> None
            super(Telling, self).__setattr__(name, value)
            if name == "_initializing" and not value:
                self.__class__ = kind
                _loaded(self.name, then)

    spec.__class__ = Telling


def _loaded(name, then):
    # type: (str, Any) -> None
    module = sys.modules.get(name)
    if module is None:  # it failed; there may be another attempt
        _AWAITED[name] = then
        return
    try:
        then(module)
    except Exception:
        _note()


def _watch(compiler):
    # type: (Any) -> None
    util = _import("importlib.util").util
    folder = os.path.join(os.path.dirname(_HERE), "program")
    spec = util.spec_from_file_location(
        _PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    _import(_PACKAGE + ".watch").watch.install(compiler)


def _inherit(module):
    # type: (Any) -> None
    """Inductor starts its compile workers with the path of its own process for PYTHONPATH (torch/_inductor/utils.py,
    python_subprocess_env), from which this folder is gone; it lets another path be given."""
    given = os.environ.get("TORCH_CUSTOM_PYTHONPATH") or os.pathsep.join(sys.path)
    os.environ["TORCH_CUSTOM_PYTHONPATH"] = os.pathsep.join([_HERE, given])


_AWAITED = {"triton.compiler.compiler": _watch, "torch._inductor.compile_worker.subproc_pool": _inherit}


def _note():
    # type: () -> None
    """What went wrong here goes to the folder of the run, and nowhere else."""
    try:
        text = _import("traceback").format_exc()
        with open(os.path.join(_RUN, "note-%d.txt" % os.getpid()), "a") as file:
            file.write(text)
    except Exception:
        pass


def _import(name):
    # type: (str) -> Any
    return __import__(name)


def _leave_path():
    # type: () -> None
    """The program sees the path that it has without triage; its children find this folder in PYTHONPATH."""
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)


_leave_path()
# No Triton runs on an older Python than this, and Python 2 has finders of another kind.
if sys.version_info >= (3, 8) and os.path.isdir(_RUN):
    sys.meta_path.insert(0, _Finder())

# What stands here instead of this module afterwards is the other sitecustomize; where there is none, the ImportError is
# the one that `site` expects.
sys.modules.pop(__name__, None)
__import__("sitecustomize")
