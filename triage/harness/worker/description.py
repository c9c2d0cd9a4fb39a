"""Describes a kernel to triage: its parameters, and what decorators give to them in each configuration.

A launch is followed from the outermost decorator down, as Triton does it: autotune adds the arguments of one of its
configurations, heuristics those that they compute of all arguments known so far.
"""

import sys
from contextlib import suppress
from io import open as open_file
from itertools import islice, product
from math import prod
from typing import Any, Dict, Iterator, List, Mapping

from . import adapter, errors, imports, placeholders, tensors, torch_facts, values, wire

MOST_CONFIGURATIONS = 1000
"""That are described of a kernel; the longest lists in packages have some hundred."""
_MOST_REASON = 300
_ADDRESS = 1 << 20
"""Of a tensor: a multiple of 512 bytes, as torch allocates."""


def write(layers: List[Any], arguments: Mapping[str, Any], to: str) -> None:
    """Write the description of a kernel, given as :func:`load.find_layers` returns it, to the file ``to``."""
    with open_file(to, "w") as file:
        file.write(wire.dumps(_described(layers, arguments)))


def _described(layers: List[Any], arguments: Mapping[str, Any]) -> Dict[str, Any]:
    kernel = layers[-1]
    parameters = [_parameter(parameter) for parameter in kernel.params]
    names = [parameter["name"] for parameter in parameters]
    decoded = {name: _argument(name, value) for name, value in arguments.items()}
    tuners = [layer for layer in layers[:-1] if _is_autotuner(layer)]
    chosen = list(islice(product(*[tuner.configs for tuner in tuners]), MOST_CONFIGURATIONS))
    return {
        "name": str(kernel.fn.__name__),
        "language": adapter.language_of(kernel),
        "parameters": parameters,
        "autotuned": bool(tuners),
        "key": [key for tuner in tuners for key in _key(tuner)],
        "configurations": [_configuration(layers[:-1], decoded, iter(configs), names) for configs in chosen],
        "left_out": prod(len(tuner.configs) for tuner in tuners) - len(chosen),
        "notes": _notes(tuners, chosen),
    }


def _parameter(parameter: Any) -> Dict[str, Any]:
    default, problem = None, ""
    if parameter.has_default:
        try:
            default = values.encode(parameter.default)
        except values.BadValue as error:
            problem = _reason(error)
    return {
        "name": parameter.name,
        "constexpr": bool(parameter.is_constexpr),
        "annotation": str(parameter.annotation_type),
        "has_default": bool(parameter.has_default),
        "default": default,
        "default_problem": problem,
        "do_not_specialize": bool(parameter.do_not_specialize),
        # From 3.2 on.
        "do_not_specialize_on_alignment": bool(getattr(parameter, "do_not_specialize_on_alignment", False)),
    }


def _is_autotuner(layer: Any) -> bool:
    """Triton's, a subclass of it, or a class that works like it."""
    configs = getattr(layer, "configs", None)
    return isinstance(configs, (list, tuple)) and all(isinstance(_kwargs(config), dict) for config in configs)


def _kwargs(config: Any) -> Any:
    return getattr(config, "kwargs", None)


def _key(tuner: Any) -> List[str]:
    if hasattr(tuner, "key_idx"):  # up to 3.1
        return [tuner.arg_names[index] for index in tuner.key_idx]
    return [str(key) for key in getattr(tuner, "keys", None) or ()]


def _notes(tuners: List[Any], chosen: List[Any]) -> List[str]:
    notes = []
    if any(getattr(config, "pre_hook", None) is not None for configs in chosen for config in configs):
        notes.append("of a pre_hook, only the blocks of descriptors were looked at")
    if any(getattr(tuner, "early_config_prune", None) is not None for tuner in tuners):
        notes.append("prune_configs_by was not applied")
    return notes


def _configuration(
    decorators: List[Any], arguments: Dict[str, Any], configs: Iterator[Any], names: List[str]
) -> Dict[str, Any]:
    """What the decorators add to ``arguments``. ``configs``: one for each autotuner. ``names``: of the kernel's
    parameters."""
    known = _Arguments(arguments)
    described: Dict[str, Any] = {"arguments": {}, "options": {}, "heuristics": {}, "blocks": {}, "unknown": {}}
    hooks = []

    def add(name: str, value: Any, section: str) -> None:
        known[name] = value
        try:
            # As a launch does: what is no parameter is an option.
            described[section if name in names else "options"][name] = values.encode(value)
        except values.BadValue as error:
            described["unknown"][name] = _reason(error)

    for layer in decorators:
        if _is_autotuner(layer):
            config = next(configs)
            hooks.append(getattr(config, "pre_hook", None))
            for name, value in config.all_kwargs().items():
                add(name, value, "arguments")
        elif _is_heuristics(layer):
            for name, function in layer.values.items():
                try:
                    value = function(_Arguments(known))
                    placeholders.check()
                except BaseException as error:  # SystemExit, and what a stand-in raises, as well
                    described["unknown"][name] = _reason(error)
                    known.pop(name, None)
                else:
                    add(name, value, "heuristics")
                placeholders.refusals.clear()
    for hook in filter(None, hooks):
        described["blocks"].update(_blocks(hook, known, names))
    return described


def _blocks(hook: Any, known: Dict[str, Any], names: List[str]) -> Dict[str, Any]:
    """The blocks of tensor descriptors that a configuration's ``pre_hook`` sets, by parameter: for what else it does,
    there is nothing here."""
    arguments = _Arguments({name: Descriptor(name) for name in names if name not in known})
    arguments.update(known)
    with suppress(BaseException):
        hook(arguments)
    placeholders.refusals.clear()
    blocks = {}
    for name, value in arguments.items():
        shape = vars(value).get("block_shape") if type(value) in (Tensor, Descriptor) else None
        if isinstance(shape, (list, tuple)) and all(type(size) is int for size in shape):
            blocks[name] = list(shape)
    return blocks


def _is_heuristics(layer: Any) -> bool:
    functions = getattr(layer, "values", None)
    return isinstance(functions, dict) and all(map(callable, functions.values()))


class _Arguments(Dict[str, Any]):
    """The arguments as heuristics see them."""

    def __missing__(self, name: str) -> Any:
        raise placeholders.Undecidable("it needs the argument %s, whose value is not known" % name)


def _argument(name: str, value: Any) -> Any:
    return Tensor(name, value["pointer"]) if isinstance(value, dict) else values.decode(value)


class Tensor:
    """A tensor on the GPU, of which nothing is known but its elements' type and that it is aligned as torch does."""

    is_cuda = True
    device = torch_facts.Device("cuda", 0)

    def __init__(self, name: str, element: str) -> None:
        self._name, self._element = name, element

    @property
    def dtype(self) -> Any:
        """As the kernel's module has it from torch."""
        name = tensors.TORCH_TYPES.get(self._element)
        return getattr(imports.torch(), name) if name else self._refuse("dtype")

    def data_ptr(self) -> int:
        """An address."""
        return _ADDRESS

    def element_size(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        return self._refuse(attribute)

    def _decides(self, *other: Any) -> Any:
        return self._refuse("values")

    __bool__ = __len__ = __iter__ = __lt__ = __le__ = __gt__ = __ge__ = _decides

    def _refuse(self, attribute: str) -> Any:
        raise placeholders.Undecidable("it needs %s.%s, which is not known" % (self._name, attribute))


placeholders.base("torch.Tensor").register(Tensor)


class Descriptor(Tensor):
    """An argument of unknown type. To a hook that asks, it is a tensor descriptor of the host."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "")

    def __class(self) -> Any:
        module = sys.modules.get("triton.tools.tensor_descriptor")  # from 3.4 on
        return module.TensorDescriptor if module is not None else Descriptor

    __class__ = property(__class)


def _reason(error: BaseException) -> str:
    text = " ".join(errors.message(error).split())
    if not isinstance(error, (placeholders.Undecidable, values.BadValue)):
        text = ": ".join(part for part in (type(error).__name__, text) if part)
    return text[:_MOST_REASON]
