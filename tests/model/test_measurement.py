"""A measurement as a value: the document, the words, the order, and the verdict on the one that is the reference."""

from __future__ import annotations

from triage.model.measurement import Difference, Measurement, NotMeasured, by_time, reasons, settled

CLOSE = Difference("c_ptr", absolute=0.01, relative=0.0001, undefined=0, tolerance=0.004, elements=100)
FAR = Difference("c_ptr", absolute=51.2, relative=0.5, undefined=0, tolerance=0.004, elements=100)
BROKEN = Difference("c_ptr", absolute=0.0, relative=0.0, undefined=3, tolerance=0.004, elements=100)
LOST = NotMeasured("no torch", everywhere=True)


def one(median_ms: float, difference: Difference | None = None, reference: bool = False) -> Measurement:
    agrees = None if difference is None else difference.agrees
    return Measurement(median_ms, median_ms * 0.9, median_ms * 1.1, 200, "NVIDIA H200", "", 137.4, agrees, difference,
                       reference)  # fmt: skip


def test_what_agrees() -> None:
    assert [found.agrees for found in (CLOSE, FAR, BROKEN)] == [True, False, False]
    assert not Difference("c", absolute=0.1, relative=None, undefined=0, tolerance=1.0, elements=1).agrees


def test_the_document() -> None:
    assert one(1.0, FAR).to_json() == {
        "median_ms": 1.0, "p20_ms": 0.9, "p80_ms": 1.1, "launches": 200, "tflops": 137.4, "device": "NVIDIA H200",
        "clock": "", "agrees": False,
        "difference": {"output": "c_ptr", "absolute": 51.2, "relative": 0.5, "undefined": 0, "tolerance": 0.004,
                       "elements": 100},
    }  # fmt: skip


def test_words_leave_no_disagreement_out() -> None:
    assert one(1.0, CLOSE).words() == "1 ms a launch, 137 TFLOP/s"
    assert one(1.0, FAR).words() == (
        "1 ms a launch, 137 TFLOP/s, but its results differ from the first one's: c_ptr by up to 51.2, 0.5 of its "
        "largest magnitude (tolerance 0.004)"
    )
    assert "3 of 100 elements are NaN or infinite in one alone" in one(1.0, BROKEN).words()


def test_the_reference_agrees_when_another_agrees_with_it() -> None:
    found = settled({"a": one(1.0, reference=True), "b": one(2.0, FAR), "c": one(3.0, CLOSE), "d": LOST})
    assert [getattr(found[key], "agrees", None) for key in "abcd"] == [True, False, True, None]


def test_a_reference_that_nobody_agrees_with_is_marked_as_well() -> None:
    found = settled({"a": one(1.0, reference=True), "b": one(2.0, FAR)})
    assert [value.agrees for value in found.values() if isinstance(value, Measurement)] == [False, False]
    assert isinstance(found["a"], Measurement)
    assert found["a"].words().endswith("but its results differ from every other one's")


def test_without_a_comparison_there_is_no_verdict() -> None:
    alone = {"a": one(1.0, reference=True), "b": one(2.0), "c": LOST}
    assert settled(alone) == alone


def test_the_fastest_first_then_the_unmeasured_then_those_that_differ() -> None:
    items = [("x", None), ("slow", one(3.0)), ("wrong", one(0.1, FAR)), ("y", None), ("fast", one(1.0, CLOSE))]
    assert [name for name, _ in by_time(items, lambda item: item[1])] == ["fast", "slow", "x", "y", "wrong"]


def test_reasons_are_told_once() -> None:
    assert reasons([LOST, one(1.0), LOST, NotMeasured("no end within 9 s")]) == [
        "not measured (2): no torch",
        "not measured (1): no end within 9 s",
    ]
