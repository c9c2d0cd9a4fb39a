"""Takes what is private out of texts and documents, rule by rule.

What a compiler needs to be told by stays: IR, SSA names, layouts, versions, the places of assertions. The rules are
tried in one order everywhere: a credential goes as a whole before anything in it could be taken for a path or a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from triage.publish.privacy.assigned import ASSIGNED, asks_for_secret, is_secret
from triage.publish.privacy.machine import Machine, is_word
from triage.publish.privacy.network import NETWORK
from triage.publish.privacy.paths import Paths, names_of
from triage.publish.privacy.rule import Rule
from triage.publish.privacy.tokens import TOKENS

_MOST_LEARNT = 50
"""Names from home folders in texts: more than a team has in its logs, and few enough to look for each."""
_MOST_PASSES = 4
"""What one rule takes out may lay bare what another looks for: a key that a path was glued to."""
_PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


class Scrubber:
    """Removes private text; the same text comes out for the same in all that one Scrubber is given, and what it has
    made it leaves as it is. ``removed`` counts what was taken out, by what it was.

    ``machine``: whose names and values to remove. ``projects``: folders that paths are told relative to. ``keep``:
    texts that are no private values whatever the environment says (names in the kernel, versions of the toolchain).
    """

    def __init__(self, machine: Machine, projects: Sequence[Path] = (), keep: Collection[str] = ()) -> None:
        self.removed: Counter[str] = Counter()
        self._keep = frozenset(keep)
        self._users = set(machine.users)
        self._learnt = 0
        self._hosts = machine.hosts
        self._paths = Paths(projects, machine.home)
        self._values = _values(machine, self._keep)
        self._full_names = machine.full_names
        self._names = self._name_rules()

    @classmethod
    def here(cls, *folders: Path, keep: Collection[str] = (), public: Collection[str] = ()) -> Scrubber:
        """For this machine and its user. ``folders``: where the case and its artifacts lie; what is in a project is
        told relative to the project's root. ``public``: texts that are everybody's, and values in them with them."""
        machine = Machine.this()
        known = {value for value in machine.values if any(value in text for text in public)}
        projects = [root for folder in (*folders, Path.cwd()) for root in _roots(folder)]
        return cls(machine, projects, known.union(keep))

    def text(self, text: str) -> str:
        """The text without what is private. Takes time in proportion to it."""
        if not text:
            return text
        self.learn(text)
        for _ in range(_MOST_PASSES):
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def _once(self, text: str) -> str:
        text = self._without((*TOKENS, *self._values, *ASSIGNED, *NETWORK), text)
        text = self._paths.text(text)
        self._count("path", self._paths.count)
        return self._without(self._names, text)

    def _without(self, rules: Iterable[Rule], text: str) -> str:
        lowered = text.lower()
        for rule in rules:
            text, count = rule.apply(text, lowered)
            if count:
                self._count(rule.name, count)
                lowered = text.lower()
        return text

    def document(self, value: Any) -> Any:
        """A JSON value with all of its texts scrubbed, names of fields included; fields whose name says that they hold
        a credential lose their value."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(str(name)): self._field(str(name), one) for name, one in value.items()}
            case list() | tuple():
                return [self._element(before, one) for before, one in zip((None, *value), value, strict=False)]
        return value

    def _element(self, before: Any, value: Any) -> Any:
        """An element of a list, which may be the words of a command."""
        if isinstance(before, str) and isinstance(value, str) and asks_for_secret(before):
            return self._secret()
        return self.document(value)

    def _field(self, name: str, value: Any) -> Any:
        return self._secret() if isinstance(value, str) and is_secret(name, value) else self.document(value)

    def _secret(self) -> str:
        self._count("secret value", 1)
        return "<secret>"

    def _count(self, name: str, count: int) -> None:
        # A Counter keeps what was counted as none.
        if count:
            self.removed[name] += count

    def learn(self, text: str) -> str:
        """The text as it is. Whose home folders it names, those names go from all that follows."""
        if "/home/" not in text and "Users" not in text and "Documents and Settings" not in text:
            return text
        found = sorted({name for name in names_of(text) if name not in self._keep} - self._users)
        if found and (room := _MOST_LEARNT - self._learnt):
            self._users.update(found[:room])
            self._learnt += len(found[:room])
            self._names = self._name_rules()
        return text

    def _name_rules(self) -> tuple[Rule, ...]:
        users = [_name_rule("user name", name, "user") for name in sorted(self._users, key=len, reverse=True)]
        hosts = [
            _name_rule("host name", name, "host", re.IGNORECASE) for name in sorted(self._hosts, key=len, reverse=True)
        ]
        people = [_name_rule("user name", name, "user") for name in self._full_names]
        return (*people, *hosts, *users)


def _name_rule(what: str, name: str, placeholder: str, flags: int = 0) -> Rule:
    """A name as a word, or as a part of an identifier: in code it stays an identifier, and the same in all texts."""
    text = re.escape(name)
    if is_word(name):
        # Only where a name is expected.
        pattern = (
            rf"(?<=[/\\~]){text}(?=[/\\])|(?<![\w.-]){text}(?=@[\w-]+)|(?<=\w@){text}(?!\w)"
            rf"|(?<=(?:user|host)[=: ]){text}(?!\w)"
        )
    else:
        pattern = rf"(?<![A-Za-z0-9]){text}(?![A-Za-z0-9])"
    return Rule(what, re.compile(pattern, flags), lambda match: placeholder, (name.lower(),))


def _values(machine: Machine, keep: Collection[str]) -> tuple[Rule, ...]:
    """Values of environment variables: those of credentials wherever they stand, others as whole words."""
    rules = []
    machine_values = machine.values - set(keep)
    for values, edge in ((machine.secrets, ""), (machine_values, r"\w")):
        if not values:
            continue
        listed = sorted(values, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, listed))
        pattern = rf"(?<!{edge})(?:{alternatives})(?!{edge})" if edge else alternatives
        anchors = tuple(value.lower() for value in listed)
        rules.append(Rule("value of the environment", re.compile(pattern), lambda match: "<environment>", anchors))
    return tuple(rules)


def _roots(folder: Path) -> Iterable[Path]:
    """The project that a folder is in: the nearest above it with a project's file; without one, the folder itself."""
    try:
        folder = folder.resolve()
    except OSError:
        return
    for one in (folder, *folder.parents):
        if any((one / mark).exists() for mark in _PROJECT_MARKS):
            yield one
            return
    yield folder
