"""Credentials recognised by being random, and credentials within base64.

Names in code, mangled ones included, are words; a digest has hexadecimal digits, and a key of Triton's cache capital
letters and digits. What mixes small letters, capitals and digits without any words was generated, and is nothing that a
reader of a report needs."""

import base64
import itertools
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from triage.publish.privacy.rule import Removal

_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n){1,2000}[A-Za-z0-9+/]{0,76}={0,2}")
_WORD = re.compile(r"[A-Za-z0-9_-]{20,}")
_SEPARATORS = re.compile("[_-]+")
_LEAST_PREFIXED = 16
"""Characters behind a prefix: as the shortest tokens of the table have."""
_LEAST_BARE = 24
"""Characters without a prefix: identifiers of pages and videos that logs link to have fewer."""
_PUBLIC = re.compile(
    r"_*Z[A-Z0-9]|(?i:sha\d|md5|git|llvm|blake|internal|nv_static)|(?:[A-Z_]{1,40}_)?(?:cu|cuda|cu64|hip)[A-Z]"
)
"""Beginnings of mangled names (of C++ and nvcc), of digests and of functions of CUDA and HIP."""
_DIGEST_BEFORE = re.compile(r"(?:sha\d{1,3}|md5|integrity|digest)[\"']?[=:-]{1,2}[ \"']{0,2}$", re.IGNORECASE)
_SYLLABLES = re.compile("[A-Z]?[a-z]{3,}")
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxz]{4}")
_LEAST_CHANGES, _MOST_SYLLABLES = 0.33, 0.5
"""Of 24 random letters and digits 0.2 ± 0.1 are three small letters in a row or more, and there are 0.6 ± 0.1 changes
between small letters, capitals and digits a character. Names of functions have 0.5 to 1.0, or fewer changes (measured
over the sources and IR of Triton)."""
_AWS_LENGTH = 40
_LEAST_ENTROPY = 4.4
"""Bits a character. Forty random base64 characters have 4.7 ± 0.1; paths and names of that length less than 4.3."""
_STANDARD = str.maketrans("-_", "+/")


class GeneratedRule:
    """The rule. ``is_private``: whether a text that was encoded has something to remove."""

    name, anchors, needs = "token", (), ()

    def __init__(self, is_private: Callable[[str], bool]) -> None:
        self._is_private = is_private

    def edits(self, text: str, anchors_at: Iterable[int]) -> Iterator[Removal]:
        end = joined = 0
        for match in _RUN.finditer(text):
            if match.start() < end:
                continue
            if match.start() >= joined and (lines := _LINES.match(text, match.start())):
                joined = lines.end()
                if self._is_encoded(lines[0]):
                    end = joined
                    yield Removal(match.start(), end, "<encoded secret>")
                    continue
            if self._is_encoded(match[0]):
                yield Removal(match.start(), match.end(), "<encoded secret>")
            elif _is_aws_secret(match):
                yield Removal(match.start(), match.end(), "<AWS secret key>")
            elif not _DIGEST_BEFORE.search(text[max(0, match.start() - 16) : match.start()]):
                for word in _WORD.finditer(text, match.start(), match.end()):
                    if _is_token(word[0]):
                        yield Removal(word.start(), word.end(), "<token>")

    def _is_encoded(self, run: str) -> bool:
        symbols = "".join(run.split()).rstrip("=").translate(_STANDARD)
        # Most runs are not base64 of a text, which their first characters show.
        if not _printable(base64.b64decode(symbols[:16])):
            return False
        decoded = base64.b64decode(symbols[: len(symbols) // 4 * 4] + _rest(symbols))
        return _printable(decoded) and self._is_private(decoded.decode("ascii"))


def _rest(symbols: str) -> str:
    """The last group, filled up; a single character of it is cut off."""
    rest = symbols[len(symbols) // 4 * 4 :]
    return rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""


def _printable(data: bytes) -> bool:
    return data.isascii() and data.decode("ascii").translate(_SPACES).isprintable()


_SPACES = str.maketrans("\t\r\n", "   ")


def _is_token(word: str) -> bool:
    if _PUBLIC.match(word):
        return False
    parts = _SEPARATORS.split(word.strip("_-"))
    least = _LEAST_PREFIXED if len(parts) > 1 and len(parts[0]) <= _LONGEST_PREFIX else _LEAST_BARE
    if any(len(part) >= least and is_random(part) for part in parts):
        return True
    # An alphabet with both separators.
    joined = len(word) >= _LEAST_JOINED and max(map(len, parts)) >= len(word) // 4 and not _TRITON.search(word)
    return joined and is_random("".join(parts))


_TRITON = re.compile(r"[a-z0-9]__P*(?:[iu]|fp|bf)\d")
"""In a name that Triton mangles, before its first argument's type (mangle_fn and mangle_ty in triton/compiler)."""
_LONGEST_PREFIX = 12
_LEAST_JOINED = 32


def is_random(text: str) -> bool:
    """Whether letters and digits look generated."""
    return bool(re.search("[0-9]", text)) and is_mixed(text)


def is_mixed(text: str) -> bool:
    """Whether small letters and capitals alternate as in no word."""
    return (
        not text.startswith("0x")
        and bool(re.search("[a-z]", text) and re.search("[A-Z]", text))
        and len(set(text)) >= min(len(text) // 2, 20)
        and _syllables(text) <= _MOST_SYLLABLES
        and _changes(text) >= _LEAST_CHANGES
    )


def is_value(text: str) -> bool:
    """Whether what follows a prefix looks generated, be it in small letters and digits alone."""
    parts = re.split(r"[\W_]+", text)
    return any(len(part) >= _LEAST_PREFIXED and (has_letters_and_digits(part) or is_mixed(part)) for part in parts) or (
        len(text) >= _LEAST_JOINED and is_random("".join(parts))
    )


def has_letters_and_digits(text: str) -> bool:
    """Whether it has both, and few words."""
    return bool(re.search("[0-9]", text) and re.search("[A-Za-z]", text)) and _syllables(text) <= _MOST_IN_VALUE


_MOST_IN_VALUE = 0.6


def _syllables(text: str) -> float:
    """The part of a text that may be words."""
    words = (word for word in _SYLLABLES.findall(text) if not _CONSONANTS.search(word))
    return sum(map(len, words)) / len(text)


def _changes(text: str) -> float:
    kinds = text.translate(_KINDS)
    return sum(before != after for before, after in itertools.pairwise(kinds)) / len(kinds)


_KINDS = str.maketrans(string.ascii_lowercase + string.ascii_uppercase + string.digits, "l" * 26 + "u" * 26 + "d" * 10)


_ATTRIBUTE = re.compile(r"\.\w")


def _is_aws_secret(match: re.Match[str]) -> bool:
    # The sign of a diff, which is also a base64 character, may come before it.
    text = match[0][1:] if match[0][0] in "+-" and len(match[0]) > _AWS_LENGTH else match[0]
    if len(text) != _AWS_LENGTH or not re.search("[+/]", text) or re.search("[_=-]", text):
        return False
    if match.string[match.start() - 1 : match.start()] == "." or _ATTRIBUTE.match(match.string, match.end()):
        return False
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
    return (
        bool(re.search("[a-z]", text) and re.search("[A-Z]", text) and re.search("[0-9]", text))
        and entropy >= _LEAST_ENTROPY
    )
