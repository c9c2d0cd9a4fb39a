"""Block pointers as descriptors, and buffer operations as loads and stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from rewriting import HEAD, proposed, write

REMOVED = "Block pointers have been removed in favor of the tensor descriptor API"
MADE = "    p = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (n, 0), (16, 16), (1, 0))\n"


def block_pointer(tmp_path: Path, body: str) -> list[str]:
    case = write(tmp_path, HEAD + "def kernel(x_ptr, n):\n" + body, {"x_ptr": "*fp32", "n": "i32"}, {})
    found = proposed("block-pointers-as-descriptors", case, REMOVED, at="make_block_ptr")
    assert all("multiples of 16 bytes" in rewritten.caller for rewritten in found)
    return [rewritten.text.removeprefix(HEAD + "def kernel(x_ptr, n):\n") for rewritten in found]


def test_a_block_pointer_that_moves(tmp_path: Path) -> None:
    body = (
        MADE
        + "    for i in range(4):\n"
        + "        tl.store(p, tl.load(p, boundary_check=(0, 1), eviction_policy='evict_first') + 1)\n"
        + "        p = tl.advance(p, (0, 16))\n"
    )
    assert block_pointer(tmp_path, body) == [
        "    p = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [16, 16])\n"
        "    p_0 = n\n"
        "    p_1 = 0\n"
        "    for i in range(4):\n"
        "        p.store([p_0, p_1], p.load([p_0, p_1]) + 1)\n"
        "        p_1 += 16\n"
    ]


@pytest.mark.parametrize(
    "body",
    [
        MADE + "    f(p)\n",
        MADE + "    x = tl.load(p, padding_option='nan')\n",
        MADE + "    x = tl.load(p, volatile=True)\n",
        MADE + "    q = tl.advance(p, (0, 16))\n    x = tl.load(q)\n",
        MADE + "    p_0 = 3\n    x = tl.load(p)\n",
        MADE.replace("(n, 1)", "(1, n)") + "    x = tl.load(p)\n",
        MADE.replace("(n, 1)", "strides") + "    x = tl.load(p)\n",
    ],
    ids=[
        "passed on",
        "padded with nan",
        "volatile",
        "under another name",
        "name taken",
        "column-major",
        "not written out",
    ],
)
def test_block_pointers_that_are_left_alone(body: str, tmp_path: Path) -> None:
    assert block_pointer(tmp_path, body) == []


GLUON = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n\n@gluon.jit\n"


@pytest.mark.parametrize(
    "before, after",
    [
        ("x = gl.amd.cdna3.buffer_load(x_ptr, i + 1, mask=m, cache='.ca')",
         "x = gl.load(x_ptr + (i + 1), mask=m, cache_modifier='.ca')"),
        ("cdna4.buffer_store(x * 2, x_ptr, offsets=i)", "gl.store(x_ptr + i, x * 2)"),
        ("x = cdna4.buffer_load(x_ptr, i, scope='gpu')", None),
        ("x = gl.load(x_ptr + i)", None),
    ],
)  # fmt: skip
def test_buffer_operations(before: str, after: str | None, tmp_path: Path) -> None:
    text = GLUON + f"def kernel(x_ptr):\n    {before}\n"
    found = proposed("buffer-as-pointer", write(tmp_path, text, {"x_ptr": "*fp32"}, {}))
    assert [one.text for one in found] == ([GLUON + f"def kernel(x_ptr):\n    {after}\n"] if after else [])


def test_buffer_operations_stay_on_amd(tmp_path: Path) -> None:
    text = GLUON + "def kernel(x_ptr):\n    x = cdna3.buffer_load(x_ptr, i)\n"
    assert proposed("buffer-as-pointer", write(tmp_path, text, {"x_ptr": "*fp32"}, {}, target="hip:gfx942")) == []
