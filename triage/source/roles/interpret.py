"""Abstract execution of a kernel: every expression becomes a :class:`Symbolic`, and uses of parameters are recorded.

Both branches of a condition are taken and joined. A loop's body is executed once, with the variables that it advances
(``ptr += BK``) as their first value plus the loop's turns times the advance. Functions of the same file are executed
where they are called. Nothing that is not understood is an error: it is an atom that depends on its operands.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from triage.source.functions import parameters
from triage.source.module import argument
from triage.source.roles.expressions import RoleExpressions
from triage.source.roles.state import MOST_STEPS
from triage.source.roles.symbols import (
    GRID,
    LOOP,
    NAME,
    NUMBER,
    OTHER,
    ZERO,
    Atom,
    Sum,
    Symbolic,
    added,
    atoms,
    factors,
    moves,
    name,
    names,
    one_name,
    opaque,
    product,
    single,
)
from triage.source.roles.syntax import advance_of, assigned_in, reads, words_in
from triage.source.roles.uses import LoopStart, ParameterUse

_RANGE = (("arg1", "start"), ("arg2", "end"), ("step",))
"""Arguments of ``tl.range`` and ``tl.static_range``."""


class Interpreter(RoleExpressions):
    """Executes one kernel of a file."""

    def run(self, kernel: ast.FunctionDef) -> None:
        """Record all uses of the kernel's parameters."""
        self._block(kernel.body, {parameter.arg: Symbolic(name(parameter.arg)) for parameter in parameters(kernel)})

    def _block(self, body: Sequence[ast.stmt], env: dict[str, Symbolic]) -> None:
        for statement in body:
            self._steps += 1
            if self._steps < MOST_STEPS:
                self._statement(statement, env)

    def _statement(self, node: ast.stmt, env: dict[str, Symbolic]) -> None:
        if self._depth == 0:
            self._line = node.lineno
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self._value(value, env)
                for target in targets:
                    self._assign(target, result, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value, env), env)
            case ast.AugAssign(target=ast.Name(id=variable), op=operator, value=value):
                env[variable] = self._binary(operator, env.get(variable, Symbolic()), self._value(value, env))
            case ast.For():
                self._for(node, env)
            case ast.While():
                self._condition(node.test, env)
                self._loop(node.body, self._turns(node, None, NUMBER, None), env, node.test)
            case ast.If():
                self._condition(node.test, env)
                other = dict(env)
                path = self._path
                self._path = path | {(id(node), True)}
                self._block(node.body, env)
                self._path = path | {(id(node), False)}
                self._block(node.orelse, other)
                self._path = path
                for variable, result in other.items():
                    env[variable] = env[variable].joined(result) if variable in env else result
            case ast.With():
                for item in node.items:
                    self._value(item.context_expr, env)
                self._block(node.body, env)
            case ast.Return(value=ast.expr() as value):
                self._returned.append(self._value(value, env))
            case ast.Expr(value=value):
                self._value(value, env)
            case ast.Assert(test=test):
                self._value(test, env)

    def _assign(self, target: ast.expr, value: Symbolic, env: dict[str, Symbolic]) -> None:
        match target:
            case ast.Name(id=variable):
                env[variable] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = value.items if value.items is not None and len(value.items) == len(elements) else None
                for index, element in enumerate(elements):
                    part = Symbolic(opaque(f"item{index}", value.terms), None, value.reduced, data=value.data)
                    self._assign(element, items[index] if items else part, env)
            case ast.Starred(value=inner):
                self._assign(inner, Symbolic(), env)

    def _turns(self, node: ast.stmt, extent: Sum | None, unit: Sum, begins: Sum | None, ends: Sum = ZERO) -> Atom:
        self._serial += 1
        inner = frozenset(atom for part in (begins or ZERO, ends) for atom in atoms(part))
        return Atom(f"turns@{node.lineno}.{self._serial}", LOOP, extent, unit, begins, ends, inner)

    def _for(self, node: ast.For, env: dict[str, Symbolic]) -> None:
        if not isinstance(node.iter, ast.Call):
            self._value(node.iter, env)
            self._loop(node.body, self._turns(node, None, NUMBER, None), env)
            return
        self._keywords(node.iter, env)
        parts = [argument(node.iter, index, *words) for index, words in enumerate(_RANGE)]
        first, second, third = (self._value(part, env).terms if part is not None else None for part in parts)
        begins, ends = (ZERO, first or ZERO) if second is None else (first or ZERO, second)
        step = NUMBER if third is None else third
        whole = ends - begins if begins <= ends and ends else None
        turns = self._turns(node, whole if whole and not moves(whole) else None, step, begins, ends)
        if parameter := one_name(step):
            # A persistent kernel starts at its own number in the grid and skips those of the others.
            own = any(atom.kind == GRID for atom in atoms(begins)) and not names(begins)
            self.uses.add([parameter], ParameterUse.SHARES if own else ParameterUse.STEP_LOOP, self._line)
        elif step != NUMBER:
            self.uses.add(names(step), ParameterUse.STEP_LOOP, self._line)
        if whole is not None and not moves(whole):
            exact = one_name(whole)
            self.uses.add([exact] if exact else (), ParameterUse.TRIPS, self._line)
        elif whole is None:
            # From the block's start to its end, or to the end of the data: the loop stays inside the block.
            for term in begins:
                position = tuple(atom for atom in term if atom.kind != NAME)
                sizes = {atom.key for atom in term if atom.kind == NAME} & names(ends)
                if sizes and any(atom.moves for atom in position):
                    self.uses.starts.append(LoopStart(frozenset(sizes), position, self._line))
        if isinstance(node.target, ast.Name):
            advanced = product(single(turns), step)
            env[node.target.id] = Symbolic(added(begins, advanced))
        self._loop(node.body, turns, env)

    def _loop(self, body: list[ast.stmt], turns: Atom, env: dict[str, Symbolic], test: ast.expr | None = None) -> None:
        before = dict(env)
        for variable, changes in assigned_in(body).items():
            if variable not in before:
                continue
            if turns.extent and any(reads(change, variable) for change in changes):
                # What one turn leaves to the next depends on where the loop begins.
                env[variable] = replace(env[variable], reduced=env[variable].reduced | {turns.extent})
            advances = [advance_of(variable, change) for change in changes]
            if all(advance is not None for advance in advances):
                for advance in advances:
                    if advance is not None:
                        env[variable] = self._advanced(env[variable], advance, turns, before)
            else:
                read = [before[word] for change in changes for word in words_in(change) if word in before]
                inner = frozenset(atom for value in read for atom in atoms(value.terms))
                if before[variable].dims == () and not before[variable].data and before[variable].terms - {()}:
                    carried = single(Atom(f"{variable}@{turns.key}", OTHER, inner=inner | {turns}))
                    env[variable] = before[variable].with_terms(added(before[variable].terms, carried))
        if test is not None:
            self._value(test, env)
        self._block(body, env)
        for variable, value in before.items():
            env[variable] = value.joined(env[variable]) if variable in env else value

    def _advanced(
        self, value: Symbolic, advance: tuple[str, ast.expr], turns: Atom, env: dict[str, Symbolic]
    ) -> Symbolic:
        kind, expression = advance
        step = self._value(expression, env)
        if kind == "advance":
            if value.block is None or value.block.offsets is None or step.items is None:
                return value
            offsets = tuple(
                added(offset, product(single(turns), item.terms))
                for offset, item in zip(value.block.offsets, step.items, strict=False)
            )
            return replace(value, block=replace(value.block, offsets=offsets))
        if (parameter := one_name(step.terms)) and value.dims == () and not value.data:
            use = ParameterUse.SHARES if _numbers_blocks(value.terms, parameter) else ParameterUse.STEP_LOOP
            self.uses.add([parameter], use, self._line)
        return value.with_terms(added(value.terms, product(single(turns), step.terms)))


def _numbers_blocks(terms: Sum, step: str) -> bool:
    """A block's own number in the grid, which nothing multiplies, with whole steps added: ``pid + turns * PROGRAMS``.
    A step of that is the number of programs; ``pid * TILE + turns * TILE`` is a position in the data."""
    of_grid = frozenset(term for term in terms if any(atom.kind == GRID for atom in term))
    return bool(of_grid) and not factors(of_grid) and factors(terms) <= {step}
