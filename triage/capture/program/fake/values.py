"""Known contents of device memory: the little that decides how a program continues.

Kept are integers and booleans, up to 65,536 of them, and single numbers of any type: lengths, offsets, flags, a loss.
Operations on such tensors also run on the host. Everything else reads as zero. Of a larger boolean tensor one element
is tracked, as if all were alike, so that ``(a == b).all()`` of two tensors that read as zero is true."""

from typing import Any, Callable, Dict, List, Tuple

_MOST_ELEMENTS = 1 << 16
"""Elements of a tensor whose contents are tracked."""
_MOST_TO_READ = 1 << 28
"""Elements that an operation on the host may read, all operands together: 1 GiB of fp32."""
_PURGE_AFTER = 1024
"""Storages from which on those of freed tensors are dropped, at each doubling."""


class DeviceMemory:
    """The memory of one device. ``torch``: the program's module."""

    def __init__(self, torch: Any) -> None:
        from torch._subclasses.fake_tensor import FakeTensor
        from torch.multiprocessing.reductions import StorageWeakRef
        from torch.utils._pytree import tree_leaves, tree_map

        self._torch, self._fake_tensor, self._weak = torch, FakeTensor, StorageWeakRef
        self._leaves, self._map = tree_leaves, tree_map
        self._memory: Dict[int, Tuple[Any, Any]] = {}
        self._random: Any = None

    def keep(self, fake: Any, value: Any) -> None:
        """Set the tensor's memory: a tensor of its shape, or one element for all."""
        torch, storage = self._torch, fake.untyped_storage()
        if value.numel() == 1 and fake.numel() != 1:
            memory = value.detach().reshape(()).clone()
        else:
            memory = torch.UntypedStorage(storage.nbytes())
            self._view(memory, fake).copy_(value.detach())
        if len(self._memory) > _PURGE_AFTER and len(self._memory) & (len(self._memory) - 1) == 0:
            self._memory = {key: entry for key, entry in self._memory.items() if not entry[0].expired()}
        # While the weak reference exists, no other storage gets this address.
        self._memory[storage._cdata] = (self._weak(storage), memory)

    def of(self, fake: Any) -> Any:
        """What a tensor reads as: a host tensor, possibly one element expanded to the shape."""
        entry = self._memory.get(fake.untyped_storage()._cdata)
        if entry is None:
            return self._torch.zeros((), dtype=fake.dtype).expand(fake.shape)
        memory = entry[1]
        if isinstance(memory, self._torch.Tensor):
            return memory.to(fake.dtype).expand(fake.shape)
        return self._view(memory, fake)

    def _view(self, storage: Any, fake: Any) -> Any:
        view = self._torch.empty(0, dtype=fake.dtype)
        return view.set_(storage, fake.storage_offset(), fake.shape, fake.stride())

    def read(self, function: Any, arguments: Any, named: Any) -> Any:
        """Result of an operation on the host. Raises what it raises, and MemoryError for tensors that are too large."""
        if sum(tensor.numel() for tensor in self._fakes((arguments, named))) > _MOST_TO_READ:
            raise MemoryError("too large to be read")
        return self._run(function, arguments, named, self.of)

    def follow(self, function: Any, arguments: Any, named: Any, out: Any) -> None:
        """Repeat an operation on fake tensors for their known contents where worthwhile. Never raises."""
        try:
            self._follow(function, arguments, named, out)
        except Exception:
            for tensor in self._written(function, arguments, named):
                self._memory.pop(tensor.untyped_storage()._cdata, None)

    def _follow(self, function: Any, arguments: Any, named: Any, out: Any) -> None:
        if "empty" in function._schema.name:
            return  # Reads as zero. On the host it would be anything, or NaN with deterministic algorithms.
        inputs = self._fakes((arguments, named))
        written = [tensor for tensor in self._written(function, arguments, named) if self._worth(tensor)]
        storages = {tensor.untyped_storage()._cdata for tensor in inputs}
        outputs = [tensor for tensor in self._fakes(out) if tensor.untyped_storage()._cdata not in storages]
        if not written and not any(map(self._worth, outputs)):
            return
        involved = [*self._tensors((arguments, named)), *outputs]
        if all(tensor.numel() <= _MOST_ELEMENTS for tensor in involved):
            for tensor in written:
                if not self._is_held(tensor):
                    self.keep(tensor, self.of(tensor).contiguous())
            answers = self._run(function, arguments, named, self.of)
        elif written:
            raise MemoryError("what is written is not known in whole")
        else:
            answers = self._run(function, arguments, named, self._first_element)
        for fake, answer in zip(self._fakes(out), self._tensors(answers)):  # noqa: B905 - of Python 3.10
            if any(fake is tensor for tensor in outputs) and self._worth(fake):
                self.keep(fake, answer)

    def _worth(self, fake: Any) -> bool:
        if fake.dtype == self._torch.bool or fake.numel() == 1:
            return True
        return fake.numel() <= _MOST_ELEMENTS and not (fake.dtype.is_floating_point or fake.dtype.is_complex)

    def _is_held(self, fake: Any) -> bool:
        entry = self._memory.get(fake.untyped_storage()._cdata)
        return entry is not None and not isinstance(entry[1], self._torch.Tensor)

    def _first_element(self, fake: Any) -> Any:
        """First element, with the same number of dimensions."""
        value = self.of(fake)
        return value.reshape(-1)[:1].reshape((1,) * fake.dim()) if fake.numel() else value

    def _run(self, function: Any, arguments: Any, named: Any, read: Callable[[Any], Any]) -> Any:
        """Run on the host, with a random state separate from the host's."""
        torch = self._torch

        def host(leaf: Any) -> Any:
            if isinstance(leaf, self._fake_tensor):
                return read(leaf)
            if isinstance(leaf, torch.device):
                return torch.device("cpu")
            return None if isinstance(leaf, torch.Generator) else leaf

        arguments, named = self._map(host, (tuple(arguments), dict(named)))
        named.pop("pin_memory", None)
        tags = getattr(function, "tags", ())
        if torch.Tag.nondeterministic_seeded not in tags:
            return function(*arguments, **named)
        state = torch.random.get_rng_state()
        if self._random is not None:
            torch.random.set_rng_state(self._random)
        try:
            return function(*arguments, **named)
        finally:
            self._random = torch.random.get_rng_state()
            torch.random.set_rng_state(state)

    def _written(self, function: Any, arguments: Any, named: Any) -> List[Any]:
        """The fake tensors that an operation writes to."""
        schema = getattr(function, "_schema", None)
        written: List[Any] = []
        for index, argument in enumerate(schema.arguments if schema is not None else ()):
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = arguments[index] if index < len(arguments) else named.get(argument.name)
                written += self._fakes(value)
        return written

    def _fakes(self, tree: Any) -> List[Any]:
        return [leaf for leaf in self._leaves(tree) if isinstance(leaf, self._fake_tensor)]

    def _tensors(self, tree: Any) -> List[Any]:
        return [leaf for leaf in self._leaves(tree) if isinstance(leaf, self._torch.Tensor)]
