"""Scrubs texts and documents, rule by rule.

Compiler facts stay: IR, SSA names, layouts, versions, locations of assertions. Rules apply in one order everywhere: a
credential is removed as a whole before part of it could match as a path or name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from triage.publish.privacy.assigned import ASSIGNED, asks_for_secret, is_secret
from triage.publish.privacy.machine import LocalIdentity, is_word
from triage.publish.privacy.network import NETWORK
from triage.publish.privacy.paths import names_of, path_rules
from triage.publish.privacy.rule import ScrubRule
from triage.publish.privacy.tokens import TOKENS

_MOST_LEARNT = 50
"""User names learnt from home folders in texts: more than a team has in its logs, and few enough to search for each."""
_MOST_PASSES = 4
"""Replacing one match may expose another, such as a key glued to a path."""
_PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


class Scrubber:
    """Removes private text. The same input gives the same output within one Scrubber, and its own output is left
    unchanged. ``removed`` counts removals by kind.

    ``machine``: whose names and values to remove. ``projects``: folders that paths become relative to. ``keep``: texts
    that are public even if the environment contains them (names in the kernel, toolchain versions)."""

    def __init__(self, machine: LocalIdentity, projects: Sequence[Path] = (), keep: Collection[str] = ()) -> None:
        self.removed: Counter[str] = Counter()
        self._keep = frozenset(keep)
        self._users = set(machine.users)
        self._learnt = 0
        self._hosts = machine.hosts
        self._paths = path_rules(projects, machine.home)
        self._values = _values(machine, self._keep)
        self._full_names = machine.full_names
        self._names = self._name_rules()

    @classmethod
    def here(cls, *folders: Path, keep: Collection[str] = (), public: Collection[str] = ()) -> Scrubber:
        """For this machine and user. ``folders``: where the case and its artifacts are; paths in a project become
        relative to the project's root. ``public``: public texts; values that occur in them are kept."""
        machine = LocalIdentity.this()
        known = {value for value in machine.values if any(value in text for text in public)}
        projects = [root for folder in (*folders, Path.cwd()) for root in _roots(folder)]
        return cls(machine, projects, known.union(keep))

    def text(self, text: str) -> str:
        """The text without private parts. Takes time proportional to its length."""
        if not text:
            return text
        self.learn(text)
        rules = (*TOKENS, *self._values, *ASSIGNED, *NETWORK, *self._paths, *self._names)
        for _ in range(_MOST_PASSES):
            previous, lowered = text, text.lower()
            for rule in rules:
                text, count = rule.apply(text, lowered)
                if count:
                    self.removed[rule.name] += count
                    lowered = text.lower()
            if text == previous:
                break
        return text

    def document(self, value: Any) -> Any:
        """A JSON value with all texts scrubbed, field names included; fields whose name means a credential lose their
        value."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {
                    self.text(str(name)): self._item(item, isinstance(item, str) and is_secret(str(name), item))
                    for name, item in value.items()
                }
            case list() | tuple():
                # Its elements may be the words of a command.
                pairs = zip((None, *value), value, strict=False)
                return [self._item(item, isinstance(word, str) and asks_for_secret(word)) for word, item in pairs]
        return value

    def _item(self, value: Any, secret: bool) -> Any:
        if not secret or not isinstance(value, str):
            return self.document(value)
        self.removed["secret value"] += 1
        return "<secret>"

    def learn(self, text: str) -> str:
        """The text unchanged; user names in its home folders are removed from all that follows."""
        if "/home/" not in text and "Users" not in text and "Documents and Settings" not in text:
            return text
        names = sorted({name for name in names_of(text) if name not in self._keep} - self._users)
        if names and (room := _MOST_LEARNT - self._learnt):
            self._users.update(names[:room])
            self._learnt += len(names[:room])
            self._names = self._name_rules()
        return text

    def _name_rules(self) -> tuple[ScrubRule, ...]:
        users = [_name_rule("user name", name, "user") for name in sorted(self._users, key=len, reverse=True)]
        hosts = [
            _name_rule("host name", name, "host", re.IGNORECASE) for name in sorted(self._hosts, key=len, reverse=True)
        ]
        people = [_name_rule("user name", name, "user") for name in self._full_names]
        return (*people, *hosts, *users)


def _name_rule(what: str, name: str, placeholder: str, flags: int = 0) -> ScrubRule:
    """Replaces a name, as a word or part of an identifier, by a fixed identifier."""
    text = re.escape(name)
    if is_word(name):
        # Only where a name is expected.
        pattern = (
            rf"(?<=[/\\~]){text}(?=[/\\])|(?<![\w.-]){text}(?=@[\w-]+)|(?<=\w@){text}(?!\w)"
            rf"|(?<=(?:user|host)[=: ]){text}(?!\w)"
        )
    else:
        pattern = rf"(?<![A-Za-z0-9]){text}(?![A-Za-z0-9])"
    return ScrubRule(what, re.compile(pattern, flags), lambda match: placeholder, (name.lower(),))


def _values(machine: LocalIdentity, keep: Collection[str]) -> tuple[ScrubRule, ...]:
    """Values of environment variables: credentials anywhere, others as whole words."""
    rules = []
    machine_values = machine.values - set(keep)
    for values, edge in ((machine.secrets, ""), (machine_values, r"\w")):
        if not values:
            continue
        listed = sorted(values, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, listed))
        pattern = rf"(?<!{edge})(?:{alternatives})(?!{edge})" if edge else alternatives
        anchors = tuple(value.lower() for value in listed)
        rules.append(ScrubRule("value of the environment", re.compile(pattern), lambda match: "<environment>", anchors))
    return tuple(rules)


def _roots(folder: Path) -> Iterable[Path]:
    """The project of a folder: the nearest parent with a project file; without one, the folder itself."""
    try:
        folder = folder.resolve()
    except OSError:
        return
    for candidate in (folder, *folder.parents):
        if any((candidate / mark).exists() for mark in _PROJECT_MARKS):
            yield candidate
            return
    yield folder
