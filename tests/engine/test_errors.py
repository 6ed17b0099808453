"""Every error states a fact and a remedy under a code of its own, so that no traceback is needed to act."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

import engine
from engine.errors import WorkbenchError
from engine.nodes.run_context import fault_of

for _module in pkgutil.walk_packages(engine.__path__, "engine."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)

_SAMPLES = {"int": 3, "float": 2.5, "str": "name", "tuple[str, ...]": ("a", "b")}

_FOREIGN_SENTENCES = frozenset({"message", "why", "reason", "cause"})


def classes(root: type[WorkbenchError] = WorkbenchError) -> Iterator[type[WorkbenchError]]:
    yield root
    for child in root.__subclasses__():
        yield from classes(child)


def factories() -> Iterator[tuple[str, WorkbenchError]]:
    """Each error as its own class method makes it, with a value of the right type for every parameter."""
    for kind in classes():
        for name, made_by in vars(kind).items():
            if isinstance(made_by, classmethod):
                parameters = list(inspect.signature(getattr(kind, name)).parameters.values())
                values = [
                    # What a server or the system says is a sentence already.
                    "It said so." if item.name in _FOREIGN_SENTENCES else _SAMPLES.get(str(item.annotation), "name")
                    for item in parameters
                ]
                yield f"{kind.__name__}.{name}", getattr(kind, name)(*values)


MADE = dict(factories())


def test_every_class_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in classes()]
    assert len(codes) > 40
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"WB\d{3}", code) for code in codes)


@pytest.mark.parametrize("name", MADE)
def test_every_error_says_what_happened_and_what_to_do(name: str) -> None:
    error = MADE[name]
    assert error.fact.endswith((".", ":"))
    assert error.remedy.endswith(".")
    assert str(error) == f"{error.fact} {error.remedy}"
    first = error.remedy.split()[0]
    assert first[0].isupper(), "a remedy is a sentence that tells what to do"


@pytest.mark.parametrize("name", MADE)
def test_a_record_keeps_what_a_page_needs_to_say_it_in_another_language(name: str) -> None:
    error = MADE[name]
    fault = fault_of(error, "grade")
    assert (fault.code, fault.fact, fault.remedy, fault.node) == (error.code, error.fact, error.remedy, "grade")
    assert all(isinstance(value, str) for value in fault.params.values())


def test_a_foreign_exception_is_named_without_its_text() -> None:
    fault = fault_of(RuntimeError("password=secret"))
    assert "secret" not in f"{fault.fact}{fault.remedy}{dict(fault.params)}"
    assert "RuntimeError" in fault.fact
