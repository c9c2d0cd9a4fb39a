"""Scrubs texts and documents, rule by rule.

Compiler facts stay: IR, SSA names, layouts, versions, locations of assertions. Where two rules match, the earlier has
precedence: a credential is removed as a whole before part of it could match as a path or name. What a removal exposes
is read again, with some text around it, until nothing is left to remove."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from triage.publish.privacy.assigned import ASSIGNED, is_secret
from triage.publish.privacy.commands import COMMANDS, asks_for_secret, takes_secret
from triage.publish.privacy.generated import GeneratedRule
from triage.publish.privacy.layers import Layer, layers
from triage.publish.privacy.layout import with_words_joined, without_layout
from triage.publish.privacy.machine import LocalIdentity, is_word
from triage.publish.privacy.network import NETWORK
from triage.publish.privacy.paths import names_of, path_rules
from triage.publish.privacy.rule import Removal, RuleSet, ScrubRule, lower
from triage.publish.privacy.tokens import TOKENS

_MOST_LEARNT = 50
"""User names learnt from home folders in texts: more than a team has in its logs, and few enough to search for each."""
_MOST_PASSES = 8
"""Replacing one match may expose another, such as a key glued to a path."""
_AROUND = 4_096
"""Characters around a removal that are read again, of one line: longer than a credential."""
_GAP = 1_024
"""Characters between two such parts that are read as well: that costs less than another search."""
_FORMS, _ASSIGNED = RuleSet(TOKENS), RuleSet((*ASSIGNED, *NETWORK))
_COMMANDS = RuleSet((*COMMANDS, *NETWORK))
_PLAIN = RuleSet((GeneratedRule(lambda text: False),))
"""What is generated in a text that was encoded: nothing is decoded twice."""
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
        self._full_names = machine.full_names
        self._names = RuleSet(self._name_rules())
        self._credentials = (_FORMS, RuleSet(_values(machine, self._keep)), _ASSIGNED)
        generated = GeneratedRule(self._holds_secret)
        every = (rule for rules in self._credentials for rule in rules.rules)
        # One set, so that a text is searched for all anchors at once.
        self._rules = RuleSet((*every, generated, *path_rules(projects, machine.home)))

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
        self.learn(text)
        unread = [(0, len(text))] if text else []
        for _ in range(_MOST_PASSES):
            edits = [
                edit._replace(start=start + edit.start, end=start + edit.end)
                for start, end in unread
                for edit in self._edits(text[start:end])
            ]
            if not edits:
                break
            self.removed.update(edit.kind for edit in edits)
            text, unread = _applied(text, edits)
        return text

    def _edits(self, text: str) -> list[Removal]:
        """What to replace in a text, without overlaps, ascending."""
        edits: list[Removal] = []
        every = (self._rules, self._names)
        for layer in layers(text):
            plain = without_layout(layer)
            command = with_words_joined(plain)
            readings: list[tuple[Sequence[RuleSet], Layer]] = [(every, layer)]
            if plain is not layer:
                readings.append((every, plain))
            if command is not plain:
                readings.append(((_COMMANDS,), command))
            for sets, reading in readings:
                edits = _joined(edits, _outermost(reading, self._edits_by(sets, reading.text)))
        return edits

    def _edits_by(self, sets: Sequence[RuleSet], text: str) -> list[Removal]:
        lowered = lower(text)
        accepted: list[Removal] = []
        for rules in sets:
            for rule, edits in rules.edits(text, lowered):
                if free := _without_overlaps(edits, accepted):
                    accepted = sorted(accepted + [edit._replace(kind=rule.name) for edit in free])
        return accepted

    def _holds_secret(self, text: str) -> bool:
        """Whether a decoded text has a credential."""
        lowered = lower(text)
        return any(True for rules in (*self._credentials, _PLAIN) for _ in rules.edits(text, lowered))

    def document(self, value: Any) -> Any:
        """A JSON value with all texts scrubbed, field names included; fields whose name means a credential lose their
        value."""
        match value:
            case str():
                return self.text(value)
            case dict():
                # A variable as a pair of fields, as of a container.
                named = str(value.get("name", value.get("key")))
                return {
                    self.text(str(name)): self._field(named if name == "value" else str(name), item)
                    for name, item in value.items()
                }
            case list() | tuple():
                return self._items(value)
        return value

    def _field(self, name: str, value: Any) -> Any:
        """The value of a field; of a list each element is one."""
        if isinstance(value, (list, tuple)):
            secret = any(isinstance(item, str) and is_secret(name, item) for item in value)
            return [self._field(name, item) for item in value] if secret else self.document(value)
        return self._item(value, isinstance(value, (str, int)) and is_secret(name, str(value)))

    def _items(self, values: Sequence[Any]) -> list[Any]:
        """The elements, which may be the words of a command: an option says what the next is, the program what the
        option means."""
        program = values[0] if values and isinstance(values[0], str) and takes_secret(values[0]) else ""
        cleaned = []
        for word, item in zip((None, *values), values, strict=False):
            option = word if isinstance(word, str) and word.startswith("-") else ""
            if program and isinstance(item, str) and item != program:
                before = " ".join(filter(None, (program, option, "")))
                after = self.text(before + item)
                cleaned.append(after.removeprefix(before) if after.startswith(before) else "<secret>")
            else:
                cleaned.append(self._item(item, isinstance(item, str) and asks_for_secret(option)))
        return cleaned

    def _item(self, value: Any, secret: bool) -> Any:
        if not secret:
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
            self._names = RuleSet(self._name_rules())
        return text

    def _name_rules(self) -> tuple[ScrubRule, ...]:
        users = [_name_rule("user name", name, "user") for name in sorted(self._users, key=len, reverse=True)]
        hosts = [
            _name_rule("host name", name, "host", re.IGNORECASE) for name in sorted(self._hosts, key=len, reverse=True)
        ]
        people = [_name_rule("user name", name, "user") for name in self._full_names]
        return (*people, *hosts, *users)


def _without_overlaps(edits: list[Removal], accepted: list[Removal]) -> list[Removal]:
    """The edits that touch no accepted one."""
    free = []
    for edit in edits:
        index = bisect.bisect_left(accepted, edit.start, key=lambda other: other.end)
        # Two that only meet are apart.
        while index < len(accepted) and accepted[index].end == edit.start:
            index += 1
        if index == len(accepted) or accepted[index].start >= edit.end:
            free.append(edit)
    return free


def _outermost(layer: Layer, edits: list[Removal]) -> list[Removal]:
    """The edits where they are in the outermost text."""
    moved = [edit._replace(start=start, end=end) for edit in edits for start, end in [layer.origin(edit[0], edit[1])]]
    return [edit for edit in moved if edit.start < edit.end]


def _joined(edits: list[Removal], others: list[Removal]) -> list[Removal]:
    """Both; those that overlap become one, with the replacement of the widest."""
    joined: list[Removal] = []
    for edit in sorted(edits + others):
        if not joined or joined[-1].end <= edit.start:
            joined.append(edit)
            continue
        last = joined[-1]
        widest = edit if edit.end - edit.start > last.end - last.start else last
        joined[-1] = widest._replace(start=last.start, end=max(last.end, edit.end))
    return joined


def _applied(text: str, edits: list[Removal]) -> tuple[str, list[tuple[int, int]]]:
    """The edited text, and the parts of it to read again."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = length = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.replacement)
        length += edit.start - at + len(edit.replacement)
        spans.append((length - len(edit.replacement), length))
        at = edit.end
    edited = "".join([*parts, text[at:]])
    unread: list[tuple[int, int]] = []
    for span in spans:
        if unread and span[1] <= unread[-1][1]:
            continue
        start, end = _around(edited, *span)
        if unread and start <= unread[-1][1] + _GAP:
            start, _ = unread.pop()
        unread.append((start, end))
    return edited, unread


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The line around a part of a text; of a long line the words nearby."""
    first = text.rfind("\n", max(0, start - _AROUND), start) + 1
    if not first and start > _AROUND:
        space = _SPACE.search(text, start - _AROUND, start)
        first = space.end() if space else start - _AROUND
    last = text.find("\n", end, end + _AROUND)
    if last < 0:
        space = _SPACE.search(text, end + _AROUND, end + 2 * _AROUND) if end + _AROUND < len(text) else None
        last = space.start() if space else min(end + _AROUND, len(text))
    return first, last


_SPACE = re.compile(r"\s")


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
