"""The name of a C++ function, extracted from a compiler's ``__PRETTY_FUNCTION__``.

The same function is spelled differently by gcc (``{anonymous}::``, ``[with T = int]``), clang
(``(anonymous namespace)::``, ``[T = int]``) and a symboliser; return types and arguments change over the
releases without the function changing. What stays is ``Class::method``, or the bare name of a free function.
"""

import re

from triage.logs.patterns import regex

# Both spellings of the bindings of template parameters, always last.
_BINDINGS = regex(r" \[(?:with )?[\w ]{1,80}(?::\d{1,3})? = ")
_LAMBDA = regex(r"::(?:<lambda|\(lambda|\{lambda|'lambda|\(anonymous class\)|\$_\d|<unnamed class>)")
_ANONYMOUS = regex(r"\(anonymous namespace\)::|\{anonymous\}::|`anonymous[- ]namespace'::|<unnamed>::")
_TRAILING = regex(r"(?: const| volatile| noexcept| override| final| ?&{1,2})$")
# What compilers add to the name of a copy: `f(int) [clone .localalias]`, and C's `f.constprop.0()`.
_COPY = regex(r" ?\[clone [^\]]{1,80}\]|\.(?:constprop|isra|part|cold|localalias|lto_priv)(?:\.\d{1,4})?(?=\W|$)")
_OPERATOR = regex(r"\boperator ?(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|,)")
# `A::operator bool`: the one name with a space in it.
_CONVERSION = regex(r"\boperator (?=[\w:])")

_MANGLED = regex(r"_Z(?:N[VKrRO]{0,3})?(?=\d)")
_LENGTH = regex(r"\d{1,4}")

#: Namespaces that begin with a capital: anything else that does so is taken for a class.
CAPITAL_NAMESPACES = frozenset({"NVIDIA", "AMD", "ROCDL", "NVVM", "LLVM", "SPIRV"})
#: Operators whose symbols resemble brackets or separators, and private-use characters that replace them.
_STAND_INS = {
    "()": "\ue000", "[]": "\ue001", "->": "\ue002", "->*": "\ue003", "<=>": "\ue004", "<<": "\ue005",
    "<<=": "\ue006", ">>": "\ue007", ">>=": "\ue008", "<": "\ue009", "<=": "\ue00a", ">": "\ue00b",
    ">=": "\ue00c", ",": "\ue00d",
}  # fmt: skip
_SYMBOLS = {stand_in: symbol for symbol, stand_in in _STAND_INS.items()}


def _without_brackets(text: str, opening: str, closing: str) -> str:
    """The text without anything between balanced brackets."""
    outside: list[str] = []
    depth = 0
    for character in text:
        if character == opening:
            depth += 1
        elif character == closing and depth:
            depth -= 1
        elif not depth:
            outside.append(character)
    return "".join(outside)


def template_bindings(pretty: str) -> dict[str, str]:
    """The bindings of the template parameters: ``[with To = A; From = B]`` -> ``{"To": "A", "From": "B"}``."""
    match = _BINDINGS.search(pretty)
    if match is None:
        return {}
    inside = pretty[match.start() + 2 :].rstrip("] ").removeprefix("with ")
    bindings: dict[str, str] = {}
    for part in re.split(r"[;,] (?=[\w:]{1,80} = )", inside):
        name, separator, value = part.partition(" = ")
        if separator:
            bindings[name] = value
    return bindings


def demangled(symbol: str) -> str:
    """The names in a symbol of the Itanium C++ ABI, without arguments: ``_ZN4mlir1A1fEi`` -> ``mlir::A::f``; any other
    text unchanged."""
    mangled = _MANGLED.match(symbol)
    if mangled is None:
        return symbol
    names: list[str] = []
    at = mangled.end()
    while length := _LENGTH.match(symbol, at):
        at = length.end() + int(length.group())
        names.append(symbol[length.end() : at])
        at = _template_end(symbol, at)
    return "::".join(name for name in names if not name.startswith("_GLOBAL_")) or symbol


def _template_end(symbol: str, at: int) -> int:
    """Where the template arguments end that begin at ``at``, if any do."""
    if symbol[at : at + 1] != "I":
        return at
    depth = 0
    while at < len(symbol):
        if length := _LENGTH.match(symbol, at):
            at = length.end() + int(length.group())
            continue
        depth += symbol[at] in "INLXJ"
        depth -= symbol[at] == "E"
        at += 1
        if not depth:
            break
    return at


def function_name(pretty: str) -> str | None:
    """``Class::method`` or ``function``; a lambda has the name of its enclosing function; None without a name."""
    text = _COPY.sub("", demangled(pretty)).strip()
    if bindings := _BINDINGS.search(text):
        text = text[: bindings.start()]
    if lambda_start := _LAMBDA.search(text):
        text = text[: lambda_start.start()]
    text = _ANONYMOUS.sub("", text).replace("decltype(auto)", "auto")
    text = _OPERATOR.sub(lambda match: "operator" + _STAND_INS[match.group(1)], text)
    text = text.replace("->", "\ue00e")
    text = _without_brackets(_without_brackets(text, "<", ">").partition(" \ue00e ")[0].rstrip(), "(", ")")
    while trailing := _TRAILING.search(text):
        text = text[: trailing.start()]
    text = text.strip()
    if not text:
        return None
    if conversion := _CONVERSION.search(text):
        text = f"{text[: conversion.start()]}operator\ue00f{text[conversion.end() :].replace(' ', '')}"
    parts = [part for part in text.split(" ")[-1].lstrip("*&").split("::") if part]
    if not parts:
        return None
    name = "".join(_SYMBOLS.get(character, character) for character in parts[-1]).replace("\ue00f", " ")
    owner = parts[-2] if len(parts) > 1 else ""
    is_class = owner[:1].isupper() and owner not in CAPITAL_NAMESPACES
    # A lower-case owner is a namespace, but for the standard library's classes, `std::vector::operator[]`, and those of
    # Triton 1: `triton::ir::instruction::get_parent`.
    of_triton_1 = parts[:2] in (["triton", "ir"], ["triton", "codegen"]) and len(parts) > 3
    if is_class or of_triton_1 or (owner and parts[0] in ("std", "__gnu_cxx") and len(parts) > 2):
        return f"{owner}::{name}"
    return name
