"""What is taken out of LLVM IR and of assembly."""

from __future__ import annotations

from words import problem

from triage.ir.llvm import count_instructions
from triage.minimize.ir import assembly, llvm
from triage.minimize.ir.edits import apply

LLVM = """\
; ModuleID = 'k'
@smem = external addrspace(3) global [0 x i8], align 16 ; "a %0"

declare i32 @llvm.f() #1

define void @k(ptr %0, i32 %1) #0 !dbg !3 {
  %3 = add i32 %1, 1, !dbg !5
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %6, !dbg !5

5:                                                ; preds = %2
  %7 = phi i32 [ %3, %2 ]
  %8 = call i32 asm "mov %0, $1;", "=r,v"(i32 %7)
  br label %6

6:                                                ; preds = %5, %2
  ret void
}

attributes #0 = { nounwind }
!3 = !{i32 1}
!5 = !{i32 1}
"""


def test_numbers_become_names_and_the_first_block_gets_its_label() -> None:
    text = llvm.named(LLVM)
    assert "define void @k(ptr %v0, i32 %v1)" in text
    assert "\nv2:\n  %v3 = add i32 %v1, 1" in text
    assert "\nv5:" in text
    assert "[ %v3, %v2 ]" in text
    assert '"mov %0, $1;"' in text


def test_instructions_are_counted() -> None:
    assert count_instructions(LLVM) == 7


def test_a_modifier_is_no_label() -> None:
    assert assembly.count("$L1:\n\tcp.async.bulk.tensor.2d.tile::gather4.shared::cta [%r5], [%rd5], [%r4];\n") == 1


def test_metadata_go() -> None:
    text = llvm.without_metadata(LLVM)
    assert "!" not in text
    assert "%3 = add i32 %1, 1\n" in text


def test_a_result_that_is_used_becomes_poison() -> None:
    text = llvm.named(LLVM)
    addition = llvm.instructions(text, "poison")[0]
    made = apply(text.split("\n"), [addition])
    assert "icmp eq i32 poison, 0" in made
    assert "[ poison, %v2 ]" in made


def test_what_is_left_is_the_instruction() -> None:
    words = ('call i32 asm "mov', "define void @k(ptr %", ", i32 %", "ret", "(i32 ")
    reduction = problem(LLVM, llvm.measure, *words)
    llvm.reduce(reduction)
    lines = [line.strip() for line in reduction.best.split("\n") if line.strip()]
    assert lines == [
        "define void @k(ptr %v0, i32 %v1) {",
        '%v8 = call i32 asm "mov %0, $1;", "=r,v"(i32 poison)',
        "ret void",
        "}",
    ]


PTX = """\
//
.version 8.4
.target sm_90
.visible .entry k(
	.param .u64 k_0, // a
	.param .u64 k_1
)
{
	.reg .b32 %r<5>;
	.loc 1 2 3
	ld.param.u64 %rd1, [k_0];
	{ mov.b32 %r1, 0; bad.b32 %r2, %r1; }
	@%p1 st.global.b32 [%rd1], %r2;
	ret;
}
	.section	.debug_abbrev
	{
.b8 1
	}
"""


def test_of_assembly_the_line_is_left_and_what_encloses_it() -> None:
    reduction = problem(PTX, assembly.measure, "bad.b32", ".version")
    assembly.reduce(reduction)
    left = [line.strip() for line in reduction.best.split("\n") if line.strip()]
    assert left == [".version 8.4", "{", "bad.b32 %r2, %r1;", "}"]


def test_instructions_of_assembly_are_counted() -> None:
    assert assembly.count(PTX) == 4
