"""What the device's memory is known to hold: the little that decides how a program goes on.

Kept are integers and booleans, up to 65,536 of them, and single numbers of any type: lengths, offsets, flags, a loss.
An operation on such tensors is done on the host as well. All else reads as zero. Of a larger tensor of booleans one
element is followed, as if all were alike, so that ``(a == b).all()`` of two tensors that read as zero is true.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

_MOST_ELEMENTS = 1 << 16
_MOST_TO_READ = 1 << 28
_PURGE_AFTER = 1024


class Values:
    """The memory of one device. ``torch``: the program's."""

    def __init__(self, torch: Any) -> None:
        from torch._subclasses.fake_tensor import FakeTensor
        from torch.multiprocessing.reductions import StorageWeakRef
        from torch.utils._pytree import tree_leaves, tree_map

        self._torch, self._fake_tensor, self._weak = torch, FakeTensor, StorageWeakRef
        self._leaves, self._map = tree_leaves, tree_map
        self._kept: Dict[int, Tuple[Any, Any]] = {}
        self._random: Any = None

    def keep(self, fake: Any, value: Any) -> None:
        """The tensor's memory holds this from now on: a tensor of its shape, or one element for all."""
        torch, storage = self._torch, fake.untyped_storage()
        if value.numel() == 1 and fake.numel() != 1:
            held = value.detach().reshape(()).clone()
        else:
            held = torch.UntypedStorage(storage.nbytes())
            self._view(held, fake).copy_(value.detach())
        if len(self._kept) > _PURGE_AFTER and len(self._kept) & (len(self._kept) - 1) == 0:
            self._kept = {key: one for key, one in self._kept.items() if not one[0].expired()}
        # The weak reference keeps the address from being another storage's.
        self._kept[storage._cdata] = (self._weak(storage), held)

    def of(self, fake: Any) -> Any:
        """What a tensor reads as: a tensor of the host's, which may be one element that stands for all."""
        found = self._kept.get(fake.untyped_storage()._cdata)
        if found is None:
            return self._torch.zeros((), dtype=fake.dtype).expand(fake.shape)
        held = found[1]
        if isinstance(held, self._torch.Tensor):
            return held.to(fake.dtype).expand(fake.shape)
        return self._view(held, fake)

    def _view(self, storage: Any, fake: Any) -> Any:
        made = self._torch.empty(0, dtype=fake.dtype)
        return made.set_(storage, fake.storage_offset(), fake.shape, fake.stride())

    def read(self, function: Any, arguments: Any, named: Any) -> Any:
        """What an operation gives on the host. Raises what it raises, and MemoryError for what is too large."""
        if sum(one.numel() for one in self._fakes((arguments, named))) > _MOST_TO_READ:
            raise MemoryError("too large to be read")
        return self._run(function, arguments, named, self.of)

    def follow(self, function: Any, arguments: Any, named: Any, out: Any) -> None:
        """An operation was done on fake tensors: do what is worth it on what they hold. Never raises."""
        try:
            self._follow(function, arguments, named, out)
        except Exception:
            for one in self._written(function, arguments, named):
                self._kept.pop(one.untyped_storage()._cdata, None)

    def _follow(self, function: Any, arguments: Any, named: Any, out: Any) -> None:
        given = self._fakes((arguments, named))
        written = [one for one in self._written(function, arguments, named) if self._worth(one)]
        storages = {one.untyped_storage()._cdata for one in given}
        made = [one for one in self._fakes(out) if one.untyped_storage()._cdata not in storages]
        if not written and not any(map(self._worth, made)):
            return
        if all(one.numel() <= _MOST_ELEMENTS for one in [*given, *made, *self._host(arguments, named)]):
            for one in written:
                if not self._is_held(one):
                    self.keep(one, self.of(one).contiguous())
            answers = self._run(function, arguments, named, self.of)
        elif written:
            raise MemoryError("what is written is not known in whole")
        else:
            answers = self._run(function, arguments, named, self._one)
        for fake, answer in zip(self._fakes(out), self._tensors(answers)):  # noqa: B905 - of Python 3.10
            if any(fake is one for one in made) and self._worth(fake):
                self.keep(fake, answer)

    def _worth(self, fake: Any) -> bool:
        if fake.dtype == self._torch.bool or fake.numel() == 1:
            return True
        return fake.numel() <= _MOST_ELEMENTS and not (fake.dtype.is_floating_point or fake.dtype.is_complex)

    def _is_held(self, fake: Any) -> bool:
        found = self._kept.get(fake.untyped_storage()._cdata)
        return found is not None and not isinstance(found[1], self._torch.Tensor)

    def _one(self, fake: Any) -> Any:
        """Its first element, with as many dimensions."""
        value = self.of(fake)
        return value.reshape(-1)[:1].reshape((1,) * fake.dim()) if fake.numel() else value

    def _run(self, function: Any, arguments: Any, named: Any, read: Callable[[Any], Any]) -> Any:
        """On the host, and with random numbers that are not the host's own."""
        torch = self._torch

        def host(one: Any) -> Any:
            if isinstance(one, self._fake_tensor):
                return read(one)
            if isinstance(one, torch.device):
                return torch.device("cpu")
            return None if isinstance(one, torch.Generator) else one

        arguments, named = self._map(host, (tuple(arguments), dict(named)))
        named.pop("pin_memory", None)
        tags = getattr(function, "tags", ())
        if torch.Tag.nondeterministic_seeded not in tags:
            return function(*arguments, **named)
        before = torch.random.get_rng_state()
        if self._random is not None:
            torch.random.set_rng_state(self._random)
        try:
            return function(*arguments, **named)
        finally:
            self._random = torch.random.get_rng_state()
            torch.random.set_rng_state(before)

    def _written(self, function: Any, arguments: Any, named: Any) -> List[Any]:
        return [one for value in _writes(function, arguments, named) for one in self._fakes(value)]

    def _fakes(self, tree: Any) -> List[Any]:
        return [one for one in self._leaves(tree) if isinstance(one, self._fake_tensor)]

    def _tensors(self, tree: Any) -> List[Any]:
        return [one for one in self._leaves(tree) if isinstance(one, self._torch.Tensor)]

    def _host(self, arguments: Any, named: Any) -> List[Any]:
        return [one for one in self._tensors((arguments, named)) if not isinstance(one, self._fake_tensor)]


def _writes(function: Any, arguments: Any, named: Any) -> Iterator[Any]:
    """The arguments that an operation writes to."""
    schema: Optional[Any] = getattr(function, "_schema", None)
    for place, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield arguments[place] if place < len(arguments) else named.get(argument.name)
