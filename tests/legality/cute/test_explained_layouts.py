"""What ``triage explain`` tells of tiled copies and of wgmma tiles in CuTe's terms."""

from __future__ import annotations

from typing import Any

import pytest

from triage.legality import rules
from triage.legality.explanation import Explanation

SEED = {"bits": "128", "dtype": "bf16", "shape": "128,64", "stride": "1,128", "async": True}


def facts(explanation: Explanation) -> dict[str, Any]:
    return {fact.name: fact.value for fact in explanation.facts}


@pytest.mark.parametrize("threads", [None, "(16,16):(16,1)"])
def test_a_transposed_copy_has_three_remedies(threads: str | None) -> None:
    answer = rules.rule("vector-copy").answer({**SEED, "threads": threads})
    assert answer.legal is False
    assert answer.violations[0].parameter == "bits"
    remedies = {change.partition(",")[0]: facts(other) for change, other in answer.instead}
    assert "the destination laid out as the source" in remedies
    assert remedies["32-bit elements"]["request_bytes"] == 4
    assert facts(answer)["staged"] == {"load_bits": 128, "store_bits": 16, "requests": [1024, 8192]}
    assert [drawing.title.split()[0] for drawing in answer.drawings] == ["Source", "Destination"]
    assert "[896]" in answer.drawings[1].lines[8]


def test_a_dynamic_stride_allows_what_divides_it() -> None:
    texts = {
        "bits": "128",
        "dtype": "f16",
        "source": "(128,64):(?{4},1)",
        "destination": "(128,64):(64,1)",
        "swizzle": "3,3,3",
        "threads": "(16,8):(8,1)",
        "async": True,
    }
    answer = rules.rule("vector-copy").answer(texts)
    told = facts(answer)
    assert answer.legal is False
    assert (told["source_alignment_bits"], told["destination_alignment_bits"]) == (64, 128)
    assert told["legal_async_bits"] == [32, 64]
    assert answer.violations[0].nearest == (64,)


def test_a_copy_may_be_made_with_less_than_its_bits() -> None:
    texts = {"bits": "128", "dtype": "bf16", "shape": "128,64", "stride": "1,128", "destination_divisible": "4"}
    texts |= {"destination_strides": "1,128", "threads": "(16,16):(16,1)"}
    answer = rules.rule("vector-copy").answer(texts)
    assert answer.legal is True
    assert facts(answer)["issued_bits"] == 32


def test_what_the_verifier_does_not_ask_is_told() -> None:
    texts = {"bits": "128", "dtype": "bf16", "source": "(128,64):(8,1024)", "destination": "(128,64):(1,128)"}
    texts |= {"threads": "(16,16):(16,1)", "values": "(8,1):(1,0)"}
    told = facts(rules.rule("vector-copy").answer({**texts, "async": True}))
    assert told["contiguous"] is False


def test_threads_that_do_not_partition_a_swizzled_tile() -> None:
    texts = {"bits": "16", "dtype": "f16", "shape": "128,64", "swizzle": "3,3,3", "threads": "(12,8):(8,1)"}
    answer = rules.rule("vector-copy").answer({**texts, "async": True, "bits": "128"})
    assert [violation.rule for violation in answer.violations] == ["vector-copy.partition"]
    assert rules.rule("vector-copy").answer({**texts, "async": True}).legal is False


def test_a_wgmma_tile_in_cutes_terms() -> None:
    texts = {"a": "f16", "m": "128", "n": "128", "k": "64", "a_major": "mn", "b_major": "k", "stages": "3"}
    told = facts(rules.rule("wgmma").answer(texts))
    assert told["cute_atom"] == "SM90_64x128x16_F32F16F16_SS<Major::MN, Major::K>"
    assert told["a_cute"]["kind"] == "MN_SW128"
    assert told["a_cute"]["smem"] == "((_64,_2),(_8,_8),_3):((_1,_512),(_64,_1024),_8192)"
    assert told["a_cute"]["smem_helpers"] == "((64,2),(8,8),(1,3)):((1,4096),(64,512),(0,8192))"
    assert told["b_cute"]["smem"] == "(_128,_64,_3):(_64,_1,_8192)"
    assert told["b_cute"]["fragment"] == "(1,1,4,(1,3)):(0,0,2,(0,1024))"
    assert told["cute_accumulator"] == "((2,2,16),2,1)"
