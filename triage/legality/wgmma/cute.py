"""What ``triage explain wgmma`` states of a tile in CuTe's terms."""

from triage.legality.algebra.operations import NotDivisible
from triage.legality.explanation import Fact
from triage.legality.wgmma import tensors
from triage.legality.wgmma.instruction import WgmmaInstruction
from triage.legality.wgmma.request import TileRequest
from triage.legality.wgmma.tensors import SharedTensor
from triage.legality.wgmma.types import M


def facts(asked: TileRequest, instruction: WgmmaInstruction) -> list[Fact]:
    """The MMA atom, each operand's layout in shared memory and its descriptors or fragment, the accumulator; none for
    what CUTLASS has no atom of."""
    name = tensors.atom_name(instruction, asked.a_from, asked.a_major, asked.b_major)
    if not name:
        return []
    operation = tensors.DSL_OPERATIONS.get(asked.a)
    text = f"{name}; CuTe DSL: {operation or 'has none'}"
    result = [Fact("cute_atom", name, "CuTe", text)]
    for who, rows in (("a", M), ("b", instruction.n)):
        result += _operand(asked, who, rows, instruction.k)
    shape = tensors.accumulator(asked.m, asked.n, instruction.n)
    result.append(Fact("cute_accumulator", shape, "D, a thread", f"{shape}: V, MMA_M, MMA_N of one warpgroup"))
    return result


def _operand(asked: TileRequest, who: str, rows: int, k: int) -> list[Fact]:
    extent, depth, dtype, _ = asked.stored(who)
    layout = asked.tile(who).layout
    tile = SharedTensor(layout, dtype, extent, depth, asked.stages)
    own = SharedTensor(layout, dtype, extent, depth, asked.stages, tensors.ORDERS[layout.major])
    in_registers = who == "a" and asked.a_from == "registers"
    try:
        fragment = tile.registers(k) if in_registers else tile.descriptors(rows, k)
        fields = {
            "kind": tensors.kind(layout),
            "swizzle": str(tensors.swizzle(layout)),
            "atom": str(tensors.layout_atom(layout, dtype)),
            "smem": tensors.static(tile.coalesced),
            "smem_dsl": str(tile.tensor),
            "smem_helpers": str(own.tensor),
            "partition": str(tile.partition(rows, k)),
            "fragment": str(fragment),
        }
    except NotDivisible:
        return []
    iterator = "" if in_registers else "GMMA::DescriptorIterator o "
    text = (
        f"{fields['kind']}: {fields['swizzle']} o {fields['atom']}; tile_to_shape {fields['smem']}"
        + (f" (hopper_helpers: {fields['smem_helpers']})" if own.tensor != tile.tensor else "")
        + f"; fragment {iterator}{tensors.static(fragment)}"
    )
    return [Fact(f"{who}_cute", fields, f"{who.upper()} in CuTe", text)]
