"""Credentials recognised by what they are assigned to: headers, ``KEY=value``, command options.

IR and kernels also contain tokens and keys (``%token``, ``num_tokens=128``, ``key = tl.load(…)``). So names that only
ever mean a credential match almost any value, and the others only a value that looks like one."""

from __future__ import annotations

import re
from collections.abc import Callable

from triage.publish.privacy.rule import ScrubRule

_PLACE = "<secret>"

_STRONG = (
    r"passw(?:or)?d|passwd|passphrase|pwd(?=[=:])|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|account[_-]?(?:key|name)|signing[_-]?key|encryption[_-]?key|client[_-]?secret|credentials?|auth[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|id[_-]?token|bearer[_-]?token|sas[_-]?token|session[_-]?(?:id|token|key)|cookie|webhook"
)
_STRONG_ANCHORS = [
    "passw",
    "passphrase",
    "pwd",
    "secret",
    "key",
    "credential",
    "token",
    "session",
    "cookie",
    "webhook",
    "account",
]
_WEAK = r"token|key|auth|pat|pin|cert|dsn|conn(?:ection)?[_-]?str(?:ing)?"
_WEAK_ANCHORS = ("token", "key", "auth", "pat", "pin", "cert", "dsn", "conn")
_VALUE = (
    r"(?P<quote>[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n\\]|\\.){1,2048})(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>,;()\[\]{}&|]{1,2048})(?P<after>[(\[<]?)"
)
_ASSIGNED = (
    r"(?<![A-Za-z0-9])(?P<name>[\w-]{{0,64}}?(?:{words})(?:s|[_-][\w-]{{0,32}}|\d{{0,2}})?)"
    r"(?P<is>\\?[\"']?[ \t]{{0,8}}(?::=|=>|[=:])[ \t]{{0,8}}\\?)(?:{value})"
)

_CODE = re.compile(r"[A-Za-z_][\w.]*|[-+*/%]?\d[\d_.eEx]*|True|False|None|null|true|false|%[\w.#:]+|[#!@]\w.*")
"""Values in kernels and IR: names, numbers, MLIR values and aliases."""


def _strong(match: re.Match[str]) -> str:
    quoted, bare = match["quoted"], match["bare"]
    if quoted is not None:
        value, looks = quoted, len(quoted) >= 4 and not quoted.startswith("<")
    else:
        value = bare
        code = match["after"] or (
            _CODE.fullmatch(bare) and not _mixed(bare) and "=" not in match["is"].strip(" \t\\\"'")
        )
        looks = len(bare) >= 4 and not code and not _plain(bare)
    return _without(match, value) if looks else match[0]


def _weak(match: re.Match[str]) -> str:
    quoted, bare = match["quoted"], match["bare"]
    value = bare if quoted is None else quoted
    named = match["name"].isupper() or quoted is not None
    looks = len(value) >= (12 if named else 16) and _mixed(value) and not match["after"] and not _plain(value)
    return _without(match, value) if looks else match[0]


def _without(match: re.Match[str], value: str) -> str:
    whole, end = match[0], match.end("quoted" if match["quoted"] is not None else "bare") - match.start()
    return whole[: end - len(value)] + _PLACE + whole[end:]


def _plain(value: str) -> bool:
    """Whether a value is never a secret: a number, a type, a call on a module, a placeholder."""
    return (
        value.startswith(("<", "tl.", "gl.", "ttgl.", "triton.", "torch.", "%", "!", "#", "*"))
        or re.fullmatch(
            r"[-+]?[\d_.]{1,64}|True|False|None|null|none|true|false|[iu]\d{1,3}|b?fp?\d{1,3}|\*{3,64}", value
        )
        is not None
    )


def _mixed(value: str) -> bool:
    """Whether it mixes letters and digits like a generated value; a word with trailing digits (``float32``) does not
    count."""
    return bool(
        re.search(r"[A-Za-z]", value)
        and re.search(r"\d\D|\d\d\d", value)
        and not re.fullmatch(r"[A-Za-z_.]+\d{1,3}", value)
    )


def _hidden(match: re.Match[str]) -> str:
    return match["before"] + _PLACE


def _in_netrc(match: re.Match[str]) -> str:
    near = match.string[max(0, match.start() - 300) : match.end()]
    return _hidden(match) if re.search(r"machine\s|login\s", near) else match[0]


_SCHEMES = "bearer|basic|token|digest|apikey|negotiate|ntlm|aws4-hmac-sha256"
_HEADER = (
    r"(?P<before>\b(?:{name})[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}[\"']?(?:(?:{schemes})[ \t]{{1,4}})?)"
    r"(?![\"' \t]|[\w-]{{1,20}}[ \t]{{1,4}}<)(?P<value>[^\"'\n\r<]{{4,4096}})"
)
_AUTHORIZATION = _HEADER.format(name="(?:proxy-)?authorization", schemes=_SCHEMES)
_OTHER_HEADERS = _HEADER.format(
    name=r"x-[\w-]{0,40}(?:key|token|auth|signature|secret)|(?:set-)?cookie|private-token|job-token", schemes=_SCHEMES
)
_BEARER = (
    r"(?P<before>\b(?:bearer|basic)[ \t]{1,4})(?=[^\s\"'<>]{0,255}[\d+/=._-])(?P<value>[A-Za-z0-9+/=._~-]{12,4096})"
)
_FLAG = r"--?[\w-]{0,32}(?:password|passwd|passphrase|secret|token|api-?key|access-?key|credentials?)"
_OPTION = rf"(?P<before>(?<![\w-]){_FLAG}[ \t=]{{1,4}}[\"']?)(?![-<])(?P<value>[^\s\"'<>]{{4,1024}})"
_CURL = r"(?P<before>\bcurl\b[^\n<]{0,400}?[ \t](?:-u|--user)[ \t=]{1,4}[\"']?)(?!<)(?P<value>[^\s\"'<>]{3,1024})"
_NETRC = r"(?P<before>(?<=\s)password[ \t]{1,8})(?P<value>[^\s\"'<>]{4,255})(?=[\s\"'<]|$)"


def _rule(name: str, pattern: str, replace: Callable[[re.Match[str]], str], *anchors: str) -> ScrubRule:
    return ScrubRule(name, re.compile(pattern, re.IGNORECASE), replace, anchors)


ASSIGNED: tuple[ScrubRule, ...] = (
    _rule("header", _AUTHORIZATION, _hidden, "authorization"),
    _rule("header", _OTHER_HEADERS, _hidden, "x-", "cookie", "-token"),
    _rule("header", _BEARER, _hidden, "bearer", "basic"),
    _rule("secret in a command", _OPTION, _hidden, "--", " -"),
    _rule("secret in a command", _CURL, _hidden, "curl"),
    _rule("secret in a command", _NETRC, _in_netrc, "password ", "password\t"),
    _rule("secret value", _ASSIGNED.format(words=_STRONG, value=_VALUE), _strong, *_STRONG_ANCHORS),
    _rule("secret value", _ASSIGNED.format(words=_WEAK, value=_VALUE), _weak, *_WEAK_ANCHORS),
)
"""In the order of application."""

SECRET_NAME = re.compile(rf"(?:^|[^A-Za-z0-9]){_STRONG}|(?:^|[_-])(?:{_WEAK}|pass|pw)(?:$|[_-])", re.IGNORECASE)
"""Names of variables and fields that hold a secret."""

_STRONG_NAME = re.compile(rf"(?:^|[^A-Za-z0-9])(?:\w{{0,64}}_)?(?:{_STRONG})", re.IGNORECASE)


def asks_for_secret(word: str) -> bool:
    """Whether a command word is an option whose value, the next word, is a credential."""
    return re.fullmatch(_FLAG, word, re.IGNORECASE) is not None


def is_secret(name: str, value: str) -> bool:
    """Whether a field with that name and value holds a credential."""
    if _plain(value) or not SECRET_NAME.search(name):
        return False
    return len(value) >= 4 if _STRONG_NAME.search(name) else len(value) >= 12 and _mixed(value)
