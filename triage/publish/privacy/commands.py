"""Credentials on command lines: options, words and positions of programs, and what is piped into them.

A command is recognised wherever its name begins a word: behind quotation marks, a prompt, the sign of a diff, an
escaped line break. The programs are data, in ``credentials.toml``."""

import re
from collections.abc import Callable
from typing import Any

from triage.publish.privacy.generated import has_letters_and_digits
from triage.publish.privacy.rule import START, Rule, ScrubRule, any_case, hidden
from triage.publish.privacy.tokens import table

_KIND = "secret in a command"
_FLAG = (
    r"--?[\w-]{0,32}?(?:password|passwd|passphrase|passwort|secret|token|(?:api|access|account|auth|licen[cs]e)-?key"
    r"|creds|credentials?)(?:-[a-z]{1,16})?"
)
_OPTION = (
    rf"(?<![\w-]){_FLAG}[ \t=]{{1,80}}[\"']?(?:echo[ \t]{{1,4}}(?:-n[ \t]{{1,4}})?)?(?![-<])"
    r"(?P<value>[^\s\"'<>]{4,1024})"
)
_REACH = 300
"""Characters between a program and its option: a long command line."""
_GAP = r"[ \t]{1,80}"
"""Between two words: on the next line it may be indented."""
_WORDS_WITHIN = rf"(?:{_GAP}[^\s|;&\"']{{1,64}}){{0,4}}?{_GAP}"
"""Between the words of a program's name: ``docker --config /x login``."""


def _row(row: dict[str, Any]) -> list[Rule]:
    """The rules of a row of the table."""
    if "words" in row:
        return [_after_words(row)]
    names = [program.split(" ")[0] for program in row["programs"]]
    programs = "|".join(_WORDS_WITHIN.join(map(re.escape, program.split(" "))) for program in row["programs"])
    called = re.compile(rf"{START}(?:{programs})(?=[\s\"',])[^\n]{{0,{_REACH}}}$")

    def replace(match: re.Match[str]) -> str | None:
        line = match.string.rfind("\n", 0, match.start()) + 1
        # One character more, so that the pattern sees what the first is behind.
        before = match.string[max(line, match.start() - _REACH - 60) : match.start()]
        return hidden(match) if any(name in before for name in names) and called.search(before) else None

    rules: list[Rule] = []
    if "options" in row:
        # One letter may be the last of several: -sSu.
        letters = "".join(option[1] for option in row["options"] if len(option) == 2)
        rules += _options(row["options"], r"[ \t=\"',]{1,80}", replace, names)
        if letters:
            rules += _options(["-"], rf"[A-Za-z]{{1,6}}[{letters}][ \t=\"',]{{1,80}}", replace, names)
    if "attached" in row:
        rules += _options(row["attached"], "", replace, names)
    return rules


def _options(
    options: list[str], gap: str, replace: Callable[[re.Match[str]], str | None], names: list[str]
) -> list[Rule]:
    """``names``: programs without which ``replace`` finds nothing private."""
    listed = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    pattern = rf"(?<=[\s\"'])(?:{listed}){gap}[\"']?(?![-<=\s\"'])(?P<value>[^\s\"'<>]{{3,1024}})"
    anchors = tuple(option.lower() for option in options)
    return [ScrubRule(_KIND, re.compile(pattern), replace, anchors, needs=tuple(names))]


def _after_words(row: dict[str, Any]) -> Rule:
    """``skip`` words, options apart, come before the credential."""
    words = "|".join(re.escape(word).replace(r"\ ", _GAP) for word in row["words"])
    anchors = tuple(word.split(" ")[0] for word in row["words"])
    quote = "[\"']" if row.get("quoted") else "[\"']?"
    option = rf"(?:by{_GAP}|-{{1,2}}[\w-]{{1,20}}(?:=|{_GAP})){{0,3}}"
    skipped = rf"(?:{option}[^\s\"'<>;|]{{1,256}}{_GAP}){{{row.get('skip', 0)}}}"
    between = rf"(?:\.[\w-]{{1,64}})?{_GAP}{skipped}{option}{quote}(?![-<])"
    return any_case(_KIND, rf"(?:{words}){between}(?P<value>[^\s\"'<>;]{{4,512}})", hidden, *anchors)


_PASSWORD = r"(?:password|passwd|pass[ ]?phrase)[ \t]{1,80}[\"'`]?(?P<value>[^\s\"'`<>]{8,256})"


def _password(match: re.Match[str]) -> str | None:
    """A sentence may go on after the word, so what follows it must mix all kinds."""
    value = match["value"]
    mixed = has_letters_and_digits(value) and all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]"))
    return hidden(match) if mixed else None


_READS_INPUT = rf"(?:-stdin|--with-token|{START}(?:sudo[ \t]+-S|chpasswd|passwd|kinit))\b"
_PIPED = (
    r"(?:echo|printf|<<<)[ \t]{0,80}(?:-\w{1,3}[ \t]{1,80}){0,3}[\"']?(?![-<$])(?P<value>[^\s\"'<>|]{3,1024})"
    r"(?P<after>[ \t]{0,80}[\"']?[ \t]{0,80}\|[^\n]{0,200}?(?:-stdin|--with-token|sudo[ \t]{1,4}-S|chpasswd|passwd))?"
)


def _piped(match: re.Match[str]) -> str | None:
    """What ``echo`` pipes into a program that reads a password, and the here-string of such a program."""
    if match["after"]:
        return hidden(match)
    line = match.string.rfind("\n", 0, match.start()) + 1
    before = match.string[max(line, match.start() - _REACH) : match.start()]
    return hidden(match) if match[0].startswith("<<<") and re.search(_READS_INPUT, before) else None


_CONNECT_AS = (
    rf"(?:sqlplus{_GAP}(?:-\w{_GAP}){{0,3}}|jdbc:oracle:\w{{2,8}}:)(?P<value>[\w.$-]{{1,64}}/[^\s@\"'<>]{{1,128}})@"
)

COMMANDS: tuple[Rule, ...] = (
    *(rule for row in table()["command"] for rule in _row(row)),
    ScrubRule(_KIND, re.compile(_OPTION, re.IGNORECASE), hidden, ("-",)),
    any_case(_KIND, _CONNECT_AS, hidden, "sqlplus", "jdbc:oracle:"),
    any_case(_KIND, _PASSWORD, _password, "pass"),
    any_case(_KIND, _PIPED, _piped, "echo", "printf", "<<<"),
)
"""In the order of precedence."""


def asks_for_secret(word: str) -> bool:
    """Whether a command word is an option whose value, the next word, is a credential."""
    return re.fullmatch(_FLAG, word, re.IGNORECASE) is not None


_PROGRAMS = frozenset(program for row in table()["command"] for program in row.get("programs", ()))


def takes_secret(program: str) -> bool:
    """Whether a command is one of those whose options are known."""
    return program.rpartition("/")[2] in _PROGRAMS
