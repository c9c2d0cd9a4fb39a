"""What a parameter means is read from how the kernel uses it, not from what it is called."""

import textwrap
from collections.abc import Mapping

import pytest

from triage.source.roles import Axis, ParameterRole, RoleKind, roles

_TILE, _PROBLEM = RoleKind.TILE, RoleKind.PROBLEM


def _roles(text: str, kernel: str = "k") -> Mapping[str, ParameterRole]:
    return roles(textwrap.dedent(text), kernel)


def _kinds(text: str, **expected: RoleKind) -> None:
    found = _roles(text)
    assert {name: found[name].kind for name in expected} == expected, {n: found[n] for n in expected}


def test_a_matmul_steps_by_its_tiles() -> None:
    found = _roles(
        """
        def k(a, b, c, R, C, D, u: tl.constexpr, v: tl.constexpr, w: tl.constexpr, g: tl.constexpr):
            pid = tl.program_id(0)
            rows, cols = tl.cdiv(R, u), tl.cdiv(C, v)
            inside = g * cols
            group = pid // inside
            height = min(rows - group * g, g)
            i = group * g + (pid % inside) % height
            j = (pid % inside) // height
            x = (i * u + tl.arange(0, u)) % R
            y = (j * v + tl.arange(0, v)) % C
            z = tl.arange(0, w)
            pa = a + x[:, None] * D + z[None, :]
            pb = b + z[:, None] * C + y[None, :]
            acc = tl.zeros((u, v), dtype=tl.float32)
            for s in range(0, tl.cdiv(D, w)):
                acc = tl.dot(tl.load(pa, mask=z[None, :] < D - s * w), tl.load(pb), acc)
                pa += w
                pb += w * C
            tl.store(c + x[:, None] * C + y[None, :], acc)
        """
    )
    assert [(found[n].kind, found[n].axis) for n in "uvw"] == [
        (_TILE, Axis.GRID),
        (_TILE, Axis.GRID),
        (_TILE, Axis.LOOP),
    ]
    assert found["g"].kind is RoleKind.GROUP
    assert {found[n].kind for n in "RCD"} == {_PROBLEM}


def test_a_head_is_no_tile_although_its_size_stands_in_shapes() -> None:
    _kinds(
        """
        def k(q, kk, v, o, T, W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
            first = tl.program_id(0) * BM
            base = tl.program_id(1) * T * W
            m, d = first + tl.arange(0, BM), tl.arange(0, W)
            x = tl.load(q + base + m[:, None] * W + d[None, :])
            acc = tl.zeros((BM, W), tl.float32)
            for start in range(0, first + BM, BN):
                n = start + tl.arange(0, BN)
                s = tl.dot(x, tl.load(kk + base + n[None, :] * W + d[:, None]))
                acc = tl.dot(s.to(tl.float16), tl.load(v + base + n[:, None] * W + d[None, :]), acc)
            tl.store(o + base + m[:, None] * W + d[None, :], acc)
        """,
        W=_PROBLEM,
        BM=_TILE,
        BN=_TILE,
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        # A map over elements: any block does.
        ("i = tl.program_id(0) * P + tl.arange(0, P)\n    tl.store(y + i, tl.load(x + i) * 2)", _TILE),
        # The same addresses, reduced: a row.
        (
            "i = tl.program_id(0) * P + tl.arange(0, P)\n    v = tl.load(x + i)\n    tl.store(y + i, v / tl.sum(v, 0))",
            _PROBLEM,
        ),
        # One result for each block of that size.
        (
            "r = tl.program_id(0)\n    v = tl.load(x + r * P + tl.arange(0, P))\n    tl.store(y + r, tl.max(v, 0))",
            _PROBLEM,
        ),
        # One scale for each block of that size.
        (
            "r = tl.program_id(0)\n    i = r * P + tl.arange(0, P)\n    tl.store(y + i, tl.load(s + r))",
            _PROBLEM,
        ),
        # A page: the data numbers them.
        (
            "r = tl.load(s + tl.program_id(0))\n    i = r * P + tl.arange(0, P)\n    tl.store(y + i, tl.load(x + i))",
            _PROBLEM,
        ),
        # A loop covers the row.
        ("for c in range(0, n, P):\n        i = c + tl.arange(0, P)\n        tl.store(y + i, tl.load(x + i))", _TILE),
        ("for c in range(tl.cdiv(n, P)):\n        i = c * P + tl.arange(0, P)\n        tl.store(y + i, 1)", _TILE),
        ("c = 0\n    while c < n:\n        tl.store(y + c + tl.arange(0, P), 1)\n        c += P", _TILE),
        # As many rows as a row has elements.
        (
            "i = tl.arange(0, P)[:, None] * P + tl.arange(0, P)[None, :]\n    for c in range(n):\n"
            "        tl.store(y + c * P * P + i, tl.load(x + c * P * P + i))",
            _PROBLEM,
        ),
        # As many blocks as another parameter says.
        ("i = tl.program_id(0) % Q * P + tl.arange(0, P)\n    tl.store(y + i, 1)", _PROBLEM),
        ("for c in range(Q):\n        tl.store(y + c * P + tl.arange(0, P), 1)", _PROBLEM),
        (
            "first = tl.program_id(0) * P * Q\n    for c in range(Q):\n"
            "        tl.store(y + first + c * P + tl.arange(0, P), 1)",
            _TILE,
        ),
        # What whole blocks leave at the end.
        (
            "whole = n // P * P\n    for c in range(0, whole, P):\n        tl.store(y + c + tl.arange(0, P), 1)\n"
            "    i = whole + tl.arange(0, P)\n    tl.store(y + i, 1, mask=i < n)",
            _TILE,
        ),
        # It bounds.
        ("i = tl.program_id(0) * 64 + tl.arange(0, 64)\n    tl.store(y + i, 1, mask=i < P)", _PROBLEM),
        ("for c in range(0, P, 64):\n        tl.store(y + c + tl.arange(0, 64), 1)", _PROBLEM),
        ("i = tl.arange(0, 64)\n    tl.store(y + i, tl.load(s + i // P))", _PROBLEM),
        ("i = tl.arange(0, 64)\n    tl.store(y + tl.program_id(0) * P + i, 1)", _PROBLEM),
        ("if P:\n        tl.store(y, 1)", RoleKind.FLAG),
        ("for c in tl.range(0, n, num_stages=P):\n        tl.store(y + c, 1)", RoleKind.PIPELINE),
        ("tl.store(y, tl.load(x).to(P))", RoleKind.DTYPE),
        # Every program takes its share of the blocks.
        ("for b in range(tl.program_id(0), n, P):\n        tl.store(y + b * 64 + tl.arange(0, 64), 1)", RoleKind.GROUP),
    ],
)
def test_the_same_words_used_differently(body: str, kind: RoleKind) -> None:
    assert _roles(f"def k(x, y, s, n, Q: tl.constexpr, P: tl.constexpr):\n    {body}\n")["P"].kind is kind


def test_a_block_that_covers_a_row_is_masked_by_the_row() -> None:
    found = _roles(
        """
        def k(x, y, n, B: tl.constexpr):
            c = tl.arange(0, B)
            row = tl.program_id(0) * n
            v = tl.load(x + row + c, mask=c < n, other=0.0)
            tl.store(y + row + c, v / tl.sum(v, 0), mask=c < n)
        """
    )["B"]
    assert (found.kind, found.masked_by) == (_PROBLEM, "n")


def test_helpers_block_pointers_and_descriptors_are_followed() -> None:
    _kinds(
        """
        def place(i, size):
            return i * size

        def k(x, y, z, n, H: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
            start = place(tl.program_id(0), B)
            p = tl.make_block_ptr(x, (n, H), (H, 1), (start, 0), (B, C), (1, 0))
            d = tl.make_tensor_descriptor(y, [n, H], [H, 1], [B, C])
            for c in range(0, H, C):
                d.store([start, c], tl.load(p, boundary_check=(0, 1)))
                p = tl.advance(p, (0, C))
        """,
        H=_PROBLEM,
        B=_TILE,
        C=_TILE,
    )


def test_derived_sizes_count() -> None:
    _kinds(
        """
        def k(x, cos, y, n, W: tl.constexpr, B: tl.constexpr):
            half = W // 2
            rows = tl.program_id(0) * B + tl.arange(0, B)
            d = tl.arange(0, half)
            a = tl.load(x + rows[:, None] * n + d[None, :])
            b = tl.load(x + rows[:, None] * n + half + d[None, :])
            tl.store(y + rows[:, None] * n + d[None, :], a * tl.load(cos + d)[None, :] - b)
        """,
        W=_PROBLEM,
        B=_TILE,
    )


def test_what_is_not_python_has_no_roles() -> None:
    assert roles("def k(:", "k") == {}
    assert roles("x = 1", "k") == {}


def test_one_block_that_is_not_masked_may_be_all_there_is_or_one_of_many() -> None:
    _kinds(
        """
        def k(x, y, stride, B: tl.constexpr):
            i, j = tl.arange(0, B), tl.arange(0, 32)
            tl.store(y + i[:, None] * stride + j[None, :], tl.load(x + i[:, None] * stride + j[None, :]))
        """,
        B=RoleKind.UNKNOWN,
    )


def test_a_loop_variable_with_a_hint_steps_as_one_without() -> None:
    """The two halves of causal attention: blocks before the diagonal, and those on it."""
    text = """
@triton.jit
def inner(k_ptr, o_ptr, start_m, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    offs_n = tl.arange(0, BLOCK_N)
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
    else:
        lo, hi = 0, N
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_ptr + (start_n + offs_n) * stride)
        tl.store(o_ptr + start_m * BLOCK_M + tl.arange(0, BLOCK_M), tl.sum(k, 0))

@triton.jit
def attention(k_ptr, o_ptr, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    start_m = tl.program_id(0)
    if STAGE & 1:
        inner(k_ptr, o_ptr, start_m, N, stride, BLOCK_M, BLOCK_N, 4 - STAGE)
    if STAGE & 2:
        inner(k_ptr, o_ptr, start_m, N, stride, BLOCK_M, BLOCK_N, 2)
"""
    found = roles(text, "attention")
    assert found["BLOCK_N"].kind is RoleKind.TILE


@pytest.mark.parametrize(
    "decorator", ["", '@triton.autotune(configs=[triton.Config({"u": 128, "p": 84})], key=["n"])\n']
)
def test_the_number_of_programs_is_no_tile(decorator: str) -> None:
    """A grouped matmul: each program takes every p-th block of all its problems."""
    found = roles(decorator + textwrap.dedent(GROUPED), "k")
    assert found["p"].kind is RoleKind.GROUP, found["p"]
    assert {found[name].kind for name in "uvw"} == {_TILE}


GROUPED = """
def k(a, b, c, sizes, n, p: tl.constexpr, u: tl.constexpr, v: tl.constexpr, w: tl.constexpr):
    block = tl.program_id(0)
    end = 0
    for problem in range(n):
        rows, columns = tl.load(sizes + problem * 3), tl.load(sizes + problem * 3 + 1)
        depth = tl.load(sizes + problem * 3 + 2)
        across = tl.cdiv(columns, v)
        blocks = tl.cdiv(rows, u) * across
        while block >= end and block < end + blocks:
            x = (block - end) // across * u + tl.arange(0, u)
            y = (block - end) % across * v + tl.arange(0, v)
            z = tl.arange(0, w)
            pa = tl.load(a + problem).to(tl.pointer_type(tl.float16)) + x[:, None] * depth + z[None, :]
            pb = tl.load(b + problem).to(tl.pointer_type(tl.float16)) + z[:, None] * columns + y[None, :]
            pc = tl.load(c + problem).to(tl.pointer_type(tl.float16)) + x[:, None] * columns + y[None, :]
            acc = tl.zeros((u, v), dtype=tl.float32)
            for step in range(0, tl.cdiv(depth, w)):
                acc += tl.dot(tl.load(pa), tl.load(pb))
                pa += w
                pb += w * columns
            tl.store(pc, acc.to(tl.float16))
            block += p
        end = end + blocks
"""


def test_a_step_from_a_block_s_first_element_is_a_tile() -> None:
    _kinds(
        """
        def k(x, y, n, u: tl.constexpr, s: tl.constexpr):
            first = tl.program_id(0) * s
            for i in range(0, s, u):
                o = first + tl.arange(0, u)
                tl.store(y + o, tl.load(x + o, mask=o < n), mask=o < n)
                first += u
        """,
        u=_TILE,
        s=_TILE,
    )
