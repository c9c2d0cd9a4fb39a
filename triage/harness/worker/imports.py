"""What a kernel's module gets when it imports a host package that is not there: a stand-in.

Kernels live in files that import torch for the code around them. A managed environment holds Triton alone, and the
kernel needs no more. A case that lies in a folder of its own gets stand-ins for the packages of a list. A kernel sliced
out of its file, whose host code never runs, gets them for every package, and for torch even where that is installed,
since it has no GPU here. An import that may fail, as the code around it shows, does fail.
"""

import importlib.machinery
import importlib.util
import sys
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.metadata import Distribution, DistributionFinder
from os.path import join
from types import FrameType, ModuleType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set

from . import guards, numpy_facts, placeholders, torch_facts

HOST_SIDE = frozenset(
    {
        "torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "jax", "jaxlib", "einops",
        "transformers", "safetensors", "datasets", "accelerate", "tqdm", "pytest", "packaging", "tabulate", "ml_dtypes",
        "typing_extensions", "hypothesis", "numba", "cupy",
    }
)  # fmt: skip
"""Packages that run on the host and never inside a kernel."""
COMPILERS = frozenset({"triton", "cutlass"})
"""Packages that no stand-in replaces."""
_MISSING = (
    "%s is not installed beside this Triton; install it there, or use --python PATH with an environment that has it"
)
_OF_A_PROGRAM = "that depends on the program; `triage run` captures the kernel as a program launches it"
_INSTALLED = ("site-packages", "dist-packages")
_MACHINERY = ("importlib", "importlib._bootstrap", "importlib._bootstrap_external", "_frozen_importlib", __name__)
avoided: Set[str] = set()
"""Packages that are not there, and that the module can do without, by its own code."""
_release = ""
"""Of torch."""


def set_target(target: Dict[str, Any], device: Mapping[str, Any], torch_release: str) -> None:
    """Give stand-ins for torch the facts of a target, and of the release that goes with the compiler."""
    global _release  # noqa: PLW0603
    _release = torch_release
    placeholders.know(numpy_facts.FACTS)
    placeholders.know(torch_facts.facts(target, dict(device), _release))


def torch() -> Any:
    """The torch of kernels' modules: a stand-in, or the one that is installed."""
    return sys.modules.get("torch") or placeholders.module("torch")


class _Metadata(Distribution):
    """Of torch, where it is not installed."""

    def read_text(self, filename: str) -> Optional[str]:
        return "Metadata-Version: 2.1\nName: torch\nVersion: %s\n" % _release if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return path


class Finder(DistributionFinder, Loader):
    """Serves stand-ins, and ``lent`` packages, by name: their folders. ``sliced``: the kernel is, as above."""

    def __init__(self, sliced: bool, lent: Mapping[str, str]) -> None:
        self.used: List[str] = []
        self._sliced, self._lent = sliced, lent

    @property
    def names(self) -> List[str]:
        """Packages for which there were stand-ins, for people."""
        return ["torch %s" % _release if name == "torch" else name for name in self.used]

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """A stand-in for a package that is missing as a whole; a missing part of a real one stays missing."""
        package = fullname.partition(".")[0]
        if package in self.used:
            return self._stand_in(fullname)
        if package == "torch" and self._sliced:
            return self._first_stand_in(package, _OF_A_PROGRAM)
        spec = self._spec(fullname, path)
        if spec is not None or package != fullname or package in COMPILERS:
            return spec
        if package in self._lent:
            folder = self._lent[package]
            return importlib.util.spec_from_file_location(
                package, join(folder, "__init__.py"), submodule_search_locations=[folder]
            )
        if not (self._sliced or package in HOST_SIDE):
            return None
        frame = _importer()
        if frame is None or guards.handles_absence(frame.f_code.co_filename, frame.f_lineno):
            avoided.add(package)
            return None
        return self._first_stand_in(package, _MISSING % package)

    def find_distributions(self, context: Any = None) -> Iterator[Distribution]:
        """torch's metadata while torch is a stand-in."""
        asked = "torch" in self.used and getattr(context, "name", None) == "torch"
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_distributions")]
        if asked and not any(True for finder in others for _ in finder.find_distributions(context)):
            yield _Metadata()

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module that has every attribute."""
        return placeholders.module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing."""

    def _first_stand_in(self, package: str, reason: str) -> importlib.machinery.ModuleSpec:
        self.used.append(package)
        placeholders.reasons[package] = reason
        return self._stand_in(package)

    def _stand_in(self, fullname: str) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _spec(self, fullname: str, path: Any) -> Optional[importlib.machinery.ModuleSpec]:
        """The spec by the other finders. An installed package that cannot be imported with a stand-in for torch is
        replaced by one."""
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path) if finder is not self and hasattr(finder, "find_spec") else None
            if spec is not None:
                installed = any(name in str(spec.origin) for name in _INSTALLED)
                if (
                    self._sliced
                    and installed
                    and spec.loader is not None
                    and fullname.partition(".")[0] not in COMPILERS
                ):
                    self._replace_on_failure(spec)
                return spec
        return None

    def _replace_on_failure(self, spec: importlib.machinery.ModuleSpec) -> None:
        loader: Any = spec.loader
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            refused = len(placeholders.refusals)
            try:
                plain(module)
            except (placeholders.Undecidable, Exception):
                if not self.used:
                    raise
                del placeholders.refusals[refused:]
                self._replace(spec, _importer())

        loader.exec_module = exec_module

    def _replace(self, spec: importlib.machinery.ModuleSpec, importer: Optional[FrameType]) -> None:
        package = spec.name.partition(".")[0]
        if importer is None or guards.handles_absence(importer.f_code.co_filename, importer.f_lineno):
            avoided.add(package)
            raise ImportError("%s cannot be imported without a GPU" % spec.name)
        self.used.append(package)
        placeholders.reasons[package] = _OF_A_PROGRAM
        sys.modules[spec.name] = stand_in = placeholders.module(spec.name)
        stand_in.__spec__, stand_in.__path__ = spec, []


def _importer() -> Optional[FrameType]:
    """The frame of the code that imports; None where it only asks whether there is such a module."""
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name == "importlib.util":
            return None
        if name not in _MACHINERY:
            return frame
        frame = frame.f_back
    return None


@contextmanager
def stand_ins(sliced: bool, lent: Mapping[str, str]) -> Iterator[Finder]:
    """Serve stand-ins, and remove them afterwards: Triton must not take torch for installed."""
    finder = Finder(sliced, lent)
    sys.meta_path.insert(0, finder)
    try:
        with placeholders.asked():
            yield finder
    finally:
        sys.meta_path.remove(finder)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in finder.used and placeholders.is_stand_in(module):
                del sys.modules[name]
