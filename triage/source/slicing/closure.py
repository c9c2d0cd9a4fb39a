"""What a kernel reaches, from name to statement to name, across the files of the user's own packages.

A statement is kept where it binds a name that is reached, and then everything that it reads is reached too. Besides:

- a compound statement stays around what is kept in it, with its header, and ``raise``, ``break``, ``continue`` in it;
  of the body of a ``try`` everything but definitions stays, as whether it raises decides what is bound;
- a statement that changes an object (``a.b = …``, ``a[…] = …``, ``a.append(…)``) is kept where ``a`` is reached and is
  the user's own; of an object of another package, where what it sets is what is read (``tl.foo = …`` for ``tl.foo``);
- a condition that asks a package of the host (torch) is not evaluated where what the kernel reaches is defined in one
  of its blocks only: the kernel exists only where that block is executed.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from triage.model.errors import EnvironmentFault
from triage.source.functions import is_jitted
from triage.source.slicing.files import Compound, NameBinding, ParsedFile, Unit, parsed
from triage.source.slicing.modules import ImportRoots, OwnModule
from triage.source.slicing.reads import Chain
from triage.source.slicing.sliced_file import SlicedFile

_BUILTINS = frozenset(dir(builtins))
_LEAVES = (ast.Raise, ast.Break, ast.Continue)
"""Statements that decide what is executed after them."""
_MOST_FILES = 2000
"""Files of one slice. A kernel of a large package reaches about ten."""
_MOST_ASKED = 2000
"""Names that are followed to learn what a condition asks."""


class Unsliceable(EnvironmentFault):
    """A kernel that cannot be cut out of its file: could not tell."""


@dataclass(eq=False, slots=True)
class Closure:
    """What is kept of each module, by its name."""

    roots: ImportRoots
    files: dict[str, SlicedFile] = field(default_factory=dict)
    _imports: set[str] = field(default_factory=set)
    _waiting: list[tuple[SlicedFile, Chain]] = field(default_factory=list)

    def begin(self, module: OwnModule, source: ParsedFile, name: str) -> None:
        """Keep everything that a name of a module reaches."""
        self._add(module, source)
        self._reach(module, (name,))
        while self._waiting:
            self._follow(*self._waiting.pop())
        for sliced in self.files.values():
            sliced.appended -= self._imports

    def _file(self, module: OwnModule) -> SlicedFile:
        """What is kept of a module, which is a part of the slice from now on."""
        return self.files[module.name] if module.name in self.files else self._add(module, self._source(module))

    def _add(self, module: OwnModule, source: ParsedFile | None) -> SlicedFile:
        if len(self.files) >= _MOST_FILES:
            raise Unsliceable(f"{module.file}: with it, the kernel reaches more than {_MOST_FILES} files")
        self.files[module.name] = sliced = SlicedFile(module, source)
        for unit in source.units if source is not None else []:
            if isinstance(node := unit.imports, ast.ImportFrom) and node.module == "__future__":
                sliced.units.add(unit)
        return sliced

    def _source(self, module: OwnModule) -> ParsedFile | None:
        if module.name in self.files:
            return self.files[module.name].source
        try:
            return parsed(module.file) if module.file is not None else None
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _reach(self, module: OwnModule, chain: Chain) -> None:
        sliced = self._file(module)
        if chain not in sliced.reached:
            sliced.reached.add(chain)
            self._waiting.append((sliced, chain))

    def _follow(self, sliced: SlicedFile, chain: Chain) -> None:
        source, name = sliced.source, chain[0]
        if source is None:
            return
        bindings = _read(source.bindings.get(name, []), chain)
        self._assume(sliced, bindings)
        for binding in bindings:
            self._bind(sliced, binding, chain)
        if not bindings and name not in _BUILTINS:
            for unit in source.stars:
                self._star(sliced, unit, chain)
        for unit in source.effects.get(name, []):
            if self._is_own(sliced, name) or any(chain[: len(changed)] == changed for changed in unit.effects):
                self._keep(sliced, unit)

    def _is_own(self, sliced: SlicedFile, name: str) -> bool:
        """Whether a name of a file stands for an object of the user's."""
        assert sliced.source is not None
        bindings = sliced.source.bindings.get(name, [])
        return bool(bindings) and all(self._imported(sliced.module, binding) is None for binding in bindings)

    def _imported(self, module: OwnModule, binding: NameBinding) -> str | None:
        """The other package that a binding imports from."""
        node = binding.owner.imports if isinstance(binding.owner, Unit) else None
        if node is None or binding.alias is None:
            return None
        name = module.absolute(node) if isinstance(node, ast.ImportFrom) else binding.alias.name
        package = name.partition(".")[0]
        return None if self.roots.module(name if isinstance(node, ast.ImportFrom) else package) else package

    # What is kept

    def _bind(self, sliced: SlicedFile, binding: NameBinding, chain: Chain) -> None:
        owner = binding.owner
        if isinstance(owner, Compound):
            if isinstance(owner.node, ast.FunctionDef | ast.AsyncFunctionDef):
                raise Unsliceable(
                    f"{sliced.module.file}:{owner.node.lineno}: the kernel is defined inside the function "
                    f"{owner.node.name!r}, and what it reads depends on the parameter {chain[0]!r}"
                )
            self._keep_compound(sliced, owner)
        elif binding.alias is None:
            self._keep(sliced, owner)
        else:
            assert owner.imports is not None
            self._keep_import(sliced, owner, binding.alias.name)
            self._imports_name(sliced.module, owner.imports, binding.alias, chain)

    def _keep(self, sliced: SlicedFile, unit: Unit) -> None:
        if (node := unit.imports) is not None:
            for alias in node.names:
                self._keep_import(sliced, unit, alias.name)
                self._imports_name(sliced.module, node, alias, None)
            return
        if unit in sliced.units:
            return
        sliced.units.add(unit)
        self._keep_around(sliced, unit)
        for chain in unit.reads:
            self._reach(sliced.module, chain)
        lines = sliced.source.inner_imports if sliced.source is not None else []
        if any(unit.first <= line <= unit.last for line in lines):
            for inner, alias, read in unit.inner_imports:
                self._imports_name(sliced.module, inner, alias, read)

    def _keep_around(self, sliced: SlicedFile, item: Unit | Compound) -> None:
        for block in item.within:
            self._keep_compound(sliced, block.compound)

    def _keep_compound(self, sliced: SlicedFile, compound: Compound) -> None:
        if compound in sliced.compounds:
            return
        sliced.compounds.add(compound)
        self._keep_around(sliced, compound)
        if sliced.assumed.get(compound) is None:
            for chain in compound.reads:
                self._reach(sliced.module, chain)
        for block in compound.blocks:
            decides = block.name == "body" and any(other.name == "handler" for other in compound.blocks)
            for item in block.items:
                if isinstance(item, Unit) and (isinstance(item.nodes[0], _LEAVES) or (decides and _may_raise(item))):
                    self._keep(sliced, item)
                elif isinstance(item, Compound) and decides:
                    self._keep_compound(sliced, item)

    def _keep_import(self, sliced: SlicedFile, unit: Unit, name: str) -> None:
        names = sliced.aliases.setdefault(unit, set())
        names.add(name)
        sliced.units.add(unit)
        self._keep_around(sliced, unit)

    def _imports_name(
        self, module: OwnModule, node: ast.Import | ast.ImportFrom, alias: ast.alias, chain: Chain | None
    ) -> None:
        """Reach what an import in ``module`` finds, and of that what ``chain`` reads: None where only the import itself
        counts, as it may raise."""
        rest = chain[1:] if chain else ()
        if isinstance(node, ast.ImportFrom):
            base = self.roots.module(module.absolute(node))
            if base is not None and alias.name != "*":
                self._attribute(base, (alias.name, *rest), is_imported=True, is_value=chain is not None and not rest)
            return
        steps = tuple(alias.name.split("."))
        own = self.roots.module(alias.name)
        if own is None:
            return
        self._file(own)
        self._imports.add(f"import {own.name}")
        if chain is None:
            return
        if alias.asname is None:
            is_whole = chain[: len(steps)] == steps
            own, rest = (own, chain[len(steps) :]) if is_whole else (self.roots.module(steps[0]), rest)
        if own is not None and rest:
            self._attribute(own, rest)
        elif own is not None:
            self._whole(own)

    def _star(self, sliced: SlicedFile, unit: Unit, chain: Chain) -> None:
        base = self.roots.module(sliced.module.absolute(_from(unit)))
        if base is None:
            self._keep_import(sliced, unit, "*")
        elif self._exports(base, chain[0], frozenset()):
            self._keep_import(sliced, unit, chain[0])
            self._attribute(base, chain)

    def _exports(self, module: OwnModule, name: str, above: frozenset[str]) -> bool:
        """Whether ``import *`` of a module binds a name."""
        source = self._source(module)
        if source is None or module.name in above:
            return False
        if source.exported is not None:
            return name in source.exported
        return not name.startswith("_") and (name in source.bindings or self._is_in_stars(module, source, name, above))

    def _is_in_stars(self, module: OwnModule, source: ParsedFile, name: str, above: frozenset[str]) -> bool:
        bases = [self.roots.module(module.absolute(_from(unit))) for unit in source.stars]
        return any(base is not None and self._exports(base, name, above | {module.name}) for base in bases)

    def _attribute(self, module: OwnModule, chain: Chain, is_imported: bool = False, is_value: bool = False) -> None:
        """Reach an attribute of a module: a name that it binds, or a module below it. That is imported, unless the
        statement that reads it does it (``is_imported``); where it is used as an object (``is_value``), all of it is
        reached."""
        source, name = self._file(module).source, chain[0]
        if source is not None and (name in source.bindings or self._is_in_stars(module, source, name, frozenset())):
            self._reach(module, chain)
        elif (below := self.roots.module(f"{module.name}.{name}")) is not None:
            self._file(below)
            if is_imported:
                self._imports.add(f"import {below.name}")
            else:
                self._file(module).appended.add(f"import {below.name}")
            if chain[1:]:
                self._attribute(below, chain[1:])
            elif is_value or not is_imported:
                self._whole(below)
        elif source is not None and "__getattr__" in source.bindings:
            self._lazy(module, source, chain)
        elif source is not None:
            self._reach(module, chain)
            if not any(self.roots.module(module.absolute(_from(unit))) is None for unit in source.stars):
                self._whole(module)  # A name that is bound by other means, such as globals().

    def _whole(self, module: OwnModule) -> None:
        """Keep all of a module."""
        sliced = self._file(module)
        for unit in sliced.source.units if sliced.source is not None else []:
            self._keep(sliced, unit)

    def _lazy(self, module: OwnModule, source: ParsedFile, chain: Chain) -> None:
        """Reach a name that the module's ``__getattr__`` imports."""
        name = chain[0]
        for base_name, attribute in _lazily_imported(module, source, name):
            base = self.roots.module(base_name)
            if base is not None and base is not module:
                as_name = "" if attribute == name else f" as {name}"
                self._file(module).appended.add(f"from {base_name} import {attribute}{as_name}")
                self._attribute(base, (attribute, *chain[1:]), is_imported=True)
                return
        self._reach(module, ("__getattr__",))

    # Conditions

    def _assume(self, sliced: SlicedFile, bindings: list[NameBinding]) -> None:
        """Assume the conditions around the only definition of a name, where they ask the host. Jitted functions and
        imports of Triton count more than what is there in their place without Triton."""
        units = {
            unit: _is_kernel(unit) or self._is_triton(sliced.module, binding)
            for binding in bindings
            if isinstance(unit := binding.owner, Unit)
        }
        owners = [unit for unit, counts_most in units.items() if counts_most]
        if not owners and all(self._is_defined(binding) for binding in bindings):
            owners = list(units)
        for block in owners[0].within if owners else ():
            compound, value = block.compound, block.name == "body"
            if any(block not in owner.within for owner in owners):
                return
            if not isinstance(compound.node, ast.If):
                continue
            if compound not in sliced.assumed and self._asks_host(sliced, compound.reads):
                sliced.assumed[compound] = value
            elif sliced.assumed.get(compound, value) is not value:
                # What is reached lies in both blocks: the condition has to be evaluated.
                sliced.assumed[compound] = None
                for chain in compound.reads:
                    self._reach(sliced.module, chain)

    def _is_triton(self, module: OwnModule, binding: NameBinding) -> bool:
        return binding.alias is not None and self._imported(module, binding) == "triton"

    def _is_defined(self, binding: NameBinding) -> bool:
        return isinstance(binding.owner, Unit) and binding.alias is None

    def _asks_host(self, sliced: SlicedFile, chains: Iterable[Chain]) -> bool:
        """Whether a condition depends on a package other than Triton and the standard library, and not on Triton's
        version."""
        waiting = [(sliced.module, chain) for chain in chains]
        seen: set[tuple[str, Chain]] = set()
        asks = False
        while waiting and len(seen) < _MOST_ASKED:
            module, chain = waiting.pop()
            if (module.name, chain) in seen or (source := self._source(module)) is None:
                continue
            seen.add((module.name, chain))
            for binding in source.bindings.get(chain[0], []):
                owner = binding.owner
                package = self._imported(module, binding)
                if package is not None:
                    if package == "triton" and "__version__" in chain:
                        return False
                    asks = asks or (package != "triton" and package not in sys.stdlib_module_names)
                elif isinstance(owner, Unit) and binding.alias is not None:
                    node = owner.imports
                    name = module.absolute(node) if isinstance(node, ast.ImportFrom) else binding.alias.name
                    if (base := self.roots.module(name)) is not None:
                        rest = (binding.alias.name, *chain[1:]) if isinstance(node, ast.ImportFrom) else chain[1:]
                        waiting += [(base, rest)] if rest else []
                else:
                    waiting += [(module, read) for read in owner.reads]
        return asks


def _read(bindings: list[NameBinding], chain: Chain) -> list[NameBinding]:
    """The bindings that a dotted name reads: of ``import a.b`` and ``import a.c``, which both bind ``a``, only one."""
    chosen = [binding for binding in bindings if binding.alias is None or _spells(binding, chain)]
    return chosen or bindings[:1]


def _spells(binding: NameBinding, chain: Chain) -> bool:
    alias, owner = binding.alias, binding.owner
    assert alias is not None
    if alias.asname or not isinstance(owner, Unit) or not isinstance(owner.imports, ast.Import):
        return True
    steps = tuple(alias.name.split("."))
    return chain[: len(steps)] == steps


def _may_raise(unit: Unit) -> bool:
    node = unit.nodes[0]
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return not is_text and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _is_kernel(unit: Unit) -> bool:
    return isinstance(node := unit.nodes[0], ast.FunctionDef) and is_jitted(node)


def _from(unit: Unit) -> ast.ImportFrom:
    assert isinstance(unit.imports, ast.ImportFrom)
    return unit.imports


def _lazily_imported(module: OwnModule, source: ParsedFile, name: str) -> list[tuple[str, str]]:
    """Modules that ``__getattr__`` may import a name from, with the name there: as imports that only type checkers see
    or that stand in a function, or as the entries of a table."""
    origins = [
        (module.absolute(node), alias.name)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (alias.asname or alias.name) == name
    ]
    for table in ast.walk(source.tree):
        if not isinstance(table, ast.Dict):
            continue
        for key, value in zip(table.keys, table.values, strict=True):
            texts = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
            if not isinstance(key, ast.Constant) or not all(isinstance(text, str) for text in texts) or not texts:
                continue
            if key.value == name:
                origins += _below(module, str(texts[0]), str(texts[1]) if len(texts) == 2 else name)
            elif name in texts:
                origins += _below(module, str(key.value), name)
    return origins


def _below(module: OwnModule, text: str, name: str) -> list[tuple[str, str]]:
    """A module as a table spells it: with dots, below the package, or in full."""
    stripped = text.lstrip(".")
    return [(f"{module.name}.{stripped}", name), (stripped, name)]
