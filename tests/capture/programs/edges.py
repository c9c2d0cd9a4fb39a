"""Tests that meet a compile which ends the process in every place where tests have code; copied into a folder of its
own by its test."""

import threading
import unittest

import pytest
import toolbox
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    toolbox.strike(HOW)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


@triton.autotune([triton.Config({"BLOCK": block}) for block in (64, 128)], key=[])
@triton.jit
def tuned(x_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if BLOCK == 64:
        toolbox.strike(HOW)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def launch(how="abort"):
    kernel[(1,)](toolbox.Tensor(), how, 128)


@pytest.fixture(autouse=True)
def device(tmp_path, monkeypatch):
    toolbox.launches_nothing()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("how", ["abort", "hang"])
def test_ways(how):
    launch(how)


def test_raises():
    launch("raise")


def test_expected():
    with pytest.raises(Exception, match="PassManager"):
        launch("raise")


def test_caught():
    with pytest.raises(Exception, match=r"kernel \[HOW=abort .* kills the compiler"):
        launch()


def test_wrapped():
    try:
        launch()
    except Exception:
        raise ValueError("something else") from None


def test_retold():
    try:
        launch()
    except Exception as error:
        pytest.fail(str(error))


def in_thread(target):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()


def test_thread():
    in_thread(launch)


def test_thread_that_catches():
    def catch():
        with pytest.raises(Exception, match="kills"):
            launch()

    in_thread(catch)


class Case(unittest.TestCase):
    def test_thread_of_a_case(self):
        in_thread(launch)


@pytest.fixture
def before():
    launch()


@pytest.fixture
def after():
    yield
    launch()


def test_setup(before):
    pass


def test_teardown(after):
    pass


@pytest.mark.xfail
def test_known():
    launch()


@pytest.mark.timeout(60)
def test_timeout():
    launch()


def test_tuner_goes_on():
    tuned[(1,)](toolbox.Tensor(), "abort")
    assert tuned.best_config.kwargs == {"BLOCK": 128}


def test_other_failure():
    assert [1] == [2]
