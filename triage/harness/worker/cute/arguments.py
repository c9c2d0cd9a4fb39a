"""Arguments of a CuTe host function without a GPU, torch or numpy.

From 4.3 on the DSL has fake tensors. Up to 4.2 it takes tensors by DLPack only; a capsule built here states that its
memory, which is never read, is a GPU's.
"""

from typing import Any, Dict, List, Sequence, Tuple, Union

from . import dlpack, grammar

_ADDRESS = 1 << 20
"""Address of memory that is never read; a multiple of every alignment."""
_ALIGNED = 16
"""Bytes. torch's and XLA's allocators align to more; the DSL's own examples assume 16."""

_Numbers = Tuple[int, ...]
_Flat = Sequence[Union[int, grammar.Dynamic]]


class Arguments:
    """Creates the arguments of one call, and owns the capsules that the DSL up to 4.2 only points to."""

    def __init__(self) -> None:
        import cutlass
        from cutlass import cute

        self._cutlass, self._runtime = cutlass, cute.runtime
        self._spaces: Any = cute.AddressSpace
        self._symbols: Any = getattr(cute, "sym_int32", None)
        self._capsules: List[Any] = []

    def make(self, argument: grammar.Argument) -> Any:
        """The object that the DSL takes for an argument of that type. Raises grammar.BadType for what this release
        cannot take."""
        if isinstance(argument, grammar.Tensor):
            return self._tensor(argument)
        if isinstance(argument, grammar.Pointer):
            align = argument.align or _bytes(argument.dtype)
            return self._runtime.make_ptr(
                self._dtype(argument.dtype), _ADDRESS, self._space(argument.space), assumed_align=align
            )
        if isinstance(argument, grammar.Stream):
            return self._stream()
        if isinstance(argument, grammar.Group):
            return tuple(self.make(item) for item in argument.items)
        return self._dtype(argument.dtype)(1)

    def _dtype(self, name: str) -> Any:
        kind = getattr(self._cutlass, grammar.DTYPES[name], None)
        if kind is None:
            raise grammar.BadType("this release has no cutlass.%s" % grammar.DTYPES[name])
        return kind

    def _space(self, name: str) -> Any:
        return getattr(self._spaces, name)

    def _stream(self) -> Any:
        make = getattr(self._runtime, "make_fake_stream", None)
        if make is not None:
            return make()
        try:
            from cuda.bindings import driver
        except ImportError:
            from cuda import cuda as driver

        return driver.CUstream(0)

    def _tensor(self, tensor: grammar.Tensor) -> Any:
        dtype, align = self._dtype(tensor.dtype), tensor.align or _bytes(tensor.dtype)
        if hasattr(self._runtime, "make_fake_tensor"):
            return self._runtime.make_fake_tensor(
                dtype,
                self._extents(tensor.shape),
                self._extents(tensor.stride),
                memspace=self._space(tensor.space),
                assumed_align=align,
            )
        return self._from_dlpack(tensor, dtype, align)

    def _extents(self, extents: Any) -> Any:
        if isinstance(extents, grammar.Dynamic):
            return self._symbols(divisibility=extents.divisor)
        return tuple(map(self._extents, extents)) if isinstance(extents, tuple) else extents

    def _from_dlpack(self, tensor: grammar.Tensor, dtype: Any, align: int) -> Any:
        if tensor.space not in ("gmem", "generic"):
            raise grammar.BadType("%s: up to 4.2 arguments are in gmem or generic memory only" % (tensor,))
        (shape, stride), marks = static(tensor)
        capsule = dlpack.capsule(shape, stride, grammar.width(tensor.dtype), tensor.space == "gmem", _ADDRESS)
        self._capsules.append(capsule)
        dsl_tensor = self._runtime.from_dlpack(capsule, assumed_align=align)
        dsl_tensor.element_type = dtype
        for method, named in marks:
            dsl_tensor = getattr(dsl_tensor, method)(**named)
        return dsl_tensor


def static(tensor: grammar.Tensor) -> Tuple[Tuple[_Numbers, _Numbers], List[Tuple[str, Dict[str, Any]]]]:
    """A shape and strides that fit a type, and the calls that mark a tensor's dynamic extents: methods with their
    arguments. Raises grammar.BadType."""
    extents, strides = _flat(tensor, tensor.shape), _flat(tensor, tensor.stride)
    shape, stride, order = _numbers(extents, strides)
    dynamic = {mode: e.divisor for mode, e in enumerate(extents) if isinstance(e, grammar.Dynamic)}
    moving = any(isinstance(extent, grammar.Dynamic) for extent in strides)
    if moving and len(dynamic) == len(shape) and set(dynamic.values()) == {1}:
        return (shape, stride), [("mark_layout_dynamic", {"leading_dim": order[-1]})]
    named = [{"mode": mode, "stride_order": order, "divisibility": divisor} for mode, divisor in dynamic.items()]
    return (shape, stride), [("mark_compact_shape_dynamic", each) for each in named]


def _bytes(dtype: str) -> int:
    return max(1, grammar.width(dtype) // 8)


def _flat(tensor: grammar.Tensor, extents: Sequence[grammar.Extent]) -> _Flat:
    flat = [extent for extent in extents if not isinstance(extent, tuple)]
    if len(flat) != len(extents):
        raise grammar.BadType("%s: up to 4.2 arguments have flat layouts only" % (tensor,))
    return flat


def _numbers(extents: _Flat, strides: _Flat) -> Tuple[_Numbers, _Numbers, _Numbers]:
    """A shape and strides that fit the type, and the modes from the outermost to the innermost."""
    shape = tuple(extent if isinstance(extent, int) else 256 * extent.divisor for extent in extents)
    stride: Dict[int, int] = {}
    reach = 1
    modes = range(len(shape))
    for mode in sorted(modes, key=lambda mode: _inner_first(strides[mode], mode)):
        extent = strides[mode]
        stride[mode] = extent if isinstance(extent, int) else -(-reach // extent.divisor) * extent.divisor
        reach = max(reach, stride[mode] * shape[mode])
    order = tuple(sorted(modes, key=lambda mode: (-stride[mode], mode)))
    return shape, tuple(stride[mode] for mode in modes), order


def _inner_first(stride: Union[int, grammar.Dynamic], mode: int) -> Tuple[bool, int]:
    """Known strides in their order, then the others as in a row-major tensor."""
    return (False, stride) if isinstance(stride, int) else (True, -mode)
