"""Large tables in tests: all rows in one test, or some of them in the fast set."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Row = TypeVar("Row")


def each_row(
    rows: Iterable[Row], name: Callable[[Row], str] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a test that takes a row, and fixtures, which all rows share. It fails with the names of all rows that
    fail, and the failure of the first; an empty table is a failure too.

    A test for each row costs pytest two milliseconds, more than most rows take.
    """
    table = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def test_of_table(**fixtures: Any) -> None:
            failures: dict[str, Exception] = {}
            for row in table:
                try:
                    test(row, **fixtures)
                except Exception as failure:
                    failures[name(row)] = failure
            assert table, "no rows"
            if failures:
                summary = f"{len(failures)} of {len(table)} rows fail: {', '.join(failures)}"
                raise AssertionError(summary) from next(iter(failures.values()))

        test_of_table.__name__, test_of_table.__doc__ = test.__name__, test.__doc__
        test_of_table.__module__, test_of_table.__qualname__ = test.__module__, test.__qualname__
        signature = inspect.signature(test)
        without_row = list(signature.parameters.values())[1:]
        test_of_table.__signature__ = signature.replace(parameters=without_row)  # type: ignore[attr-defined]
        return test_of_table

    return decorate


def one_in(count: int, rows: Iterable[Row]) -> list[Any]:
    """Parameters of a test of which the first in every ``count`` runs in the fast set, and the others with the slow
    ones."""
    return [pytest.param(row, marks=() if index % count == 0 else pytest.mark.slow) for index, row in enumerate(rows)]
