"""The page: headline, the map that the script fills, failures, rules, axes, and how to repeat the sweep."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib import resources

from triage._version import __version__
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_parts import REPLACEMENTS, CellLook, ShownFailure, percent
from triage.publish.formats.html.elements import Element, append, element, written
from triage.publish.formats.html.sweep.packed import packed
from triage.sweeps.observation import CellState
from triage.sweeps.space import CONFIGURATION

_SCRIPTS = ("space.js", "grid.js", "cell.js", "controls.js")
_STYLES = ("style.css", "sweep/sweep.css")
_COLOURS = 9
"""Of the palette in ``sweep.css``; further letters use them again."""


def page(view: SweepView) -> str:
    """The whole file."""
    script = "\n".join(_own(f"sweep/{name}") for name in _SCRIPTS)
    style = "\n".join(map(_own, _STYLES))
    # "<" could end the element; within JSON's strings, where alone it occurs, it may be written so.
    data = json.dumps(packed(view), separators=(",", ":")).replace("<", "\\u003c")
    sections = [_map(view), _failures(view), _replacements(view), _axes(view), _repeat(view)]
    if CONFIGURATION in view.grid.positions:
        # A grid of a list has a row for each configuration.
        sections = [_failures(view), _replacements(view), _map(view), _repeat(view)]
    shown = [section for section in sections if section is not None]
    contents = (element("li", element("a", section[0].text or "", href=f"#{section.get('id')}")) for section in shown)
    body = element(
        "body",
        element("a", "Skip to the map", class_="skip", href="#map"),
        element("header", element("h1", view.headline), element("ul", *map(_item, view.facts()), class_="facts")),
        element("nav", element("ul", *contents), aria_label="Contents"),
        element("main", *shown, id="main"),
        element("footer", *(element("p", line) for line in _imprint(view))),
        element("script", data, type="application/json", id="data"),
        element("script", script, type="module"),
    )
    return written(element("html", _head(view.headline, script, style), body, lang="en"))


def _own(name: str) -> str:
    return resources.files("triage.publish.formats.html").joinpath(name).read_text(encoding="utf-8")


def _head(title: str, script: str, style: str) -> Element:
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=f"{policy}; base-uri 'none'; form-action 'none'"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", style),
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _item(text: str) -> Element:
    return element("li", text)


def _section(key: str, title: str, *children: Element | str | None) -> Element:
    heading = element("h2", title, id=f"{key}-title")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-title")


def _map(view: SweepView) -> Element:
    return _section(
        "map",
        "Map",
        element("noscript", element("p", "The grid needs JavaScript. All that is below can be read without it.")),
        element("div", id="controls", role="group", aria_label="What the grid shows"),
        element("ul", *_legend(view), class_="legend", aria_label="Legend"),
        element("p", id="status", role="status"),
        element(
            "div",
            element("div", id="panels"),
            element("div", element("aside", id="cell", aria_label="Selected cell"), _rules(view), class_="side"),
            class_="map",
        ),
    )


def colour(number: int) -> str:
    """The class of a failure's colour."""
    return f"f{number % _COLOURS}"


def _legend(view: SweepView) -> Iterator[Element]:
    """What the signs and colours mean, as far as the map has them."""
    states = {look.state for look in view.looks}
    if states & {CellState.COMPILED, CellState.PREDICTED_LEGAL}:
        yield _entry("legal", CellLook(CellState.COMPILED).sign, "legal")
    for number, failure in enumerate(view.failures):
        yield _entry(colour(number), failure.letter, view.line(failure.headline, 60))
    if CellState.UNTOLD in states:
        yield _entry("untold", CellLook(CellState.UNTOLD).sign, "could not be told")
    if states & {CellState.PREDICTED_LEGAL, CellState.PREDICTED_ILLEGAL}:
        signs = [CellLook(CellState.PREDICTED_LEGAL).sign, *(["a"] if view.failures else [])]
        yield _entry("legal predicted", " ".join(signs), "hatched, dot or lower case: predicted, not compiled")
    if None in states:
        yield _entry("unseen", CellLook(None).sign, "neither compiled nor predicted")
    if any(axis.matters for axis in view.axes):
        yield _entry("mixed", "75", "part that is legal, in percent, of cells that differ")


def _entry(class_: str, sign: str, text: str) -> Element:
    return element("li", element("span", sign, class_=f"swatch {class_}", aria_hidden="true"), " ", text)


def _failures(view: SweepView) -> Element | None:
    if not view.failures and not view.reasons:
        return None
    items = [_failure(view, number, failure) for number, failure in enumerate(view.failures)]
    reasons = [element("li", f"{number:,}: {reason}") for reason, number in view.reasons.items()]
    untold = [element("h3", "Could not be told"), element("ul", *reasons)] if reasons else []
    return _section("failures", "Failures", *items, *untold)


def _failure(view: SweepView, number: int, failure: ShownFailure) -> Element:
    swatch = element("span", failure.letter, class_=f"swatch {colour(number)}")
    facts = [element("li", f"cells: {failure.cells}"), element("li", "signature ", element("code", failure.signature))]
    for match in failure.matches:
        sure = f" ({percent(match.confidence)})" if match.confidence is not None else ""
        fixed = f", fixed in {match.fixed_in}" if match.fixed_in else ""
        entry = element("li", "known: ", element("code", f"triage kb show {match.id}"), f"{sure} {match.title}{fixed}")
        for url in match.upstream:
            append(entry, " ")
            append(entry, element("a", url.removeprefix("https://"), href=url, rel="noreferrer noopener"))
        facts.append(entry)
    if failure.example is not None:
        facts.append(element("li", "for example ", element("code", view.command(failure.example))))
    title = element("h3", swatch, f" {failure.headline}", id=f"failure-{number}")
    return element("div", title, element("ul", *facts), class_="failure")


def _rules(view: SweepView) -> Element | None:
    if not view.map.rules:
        return None
    colours = {failure.letter: colour(each) for each, failure in enumerate(view.failures)}
    items = []
    for number, rule in enumerate(view.map.rules):
        text, evidence = view.rule(rule)
        swatch = element("span", rule.failure, class_=f"swatch {colours.get(rule.failure)}") if rule.failure else None
        # Of a stored map the rules are known by their text alone.
        marking = {"type": "button", "aria_pressed": "false", "data_rule": str(number)} if rule.cells else {}
        shown = element("button" if rule.cells else "p", swatch, f" {text}", **marking)
        condition = element("p", evidence, ". Python: ", element("code", view.line(rule.python)), class_="quiet")
        items.append(element("li", shown, condition))
    choice = any(rule.cells for rule in view.map.rules)
    hint = element("p", "Choose a rule to mark its cells.", class_="hint") if choice else None
    return element("div", element("h3", "Rules"), hint, element("ol", *items, class_="rules"), id="rules")


def _axes(view: SweepView) -> Element | None:
    if not view.axes:
        return None
    head = element("tr", *(element("th", name, scope="col") for name in ("Axis", "Values", "Changes the result")))
    body = element("tbody")
    for axis in view.axes:
        values = ", ".join(axis.values[:64]) + (f" and {len(axis.values) - 64:,} more" if len(axis.values) > 64 else "")
        append(
            body,
            element(
                "tr",
                element("th", axis.name, scope="row"),
                element("td", values),
                element("td", _effect(axis.inert, axis.probes, axis.influence.share, axis.influence.lines)),
            ),
        )
    return _section("axes", "Axes", _table("Axes of the sweep", head, body))


def _table(caption: str, head: Element, body: Element) -> Element:
    table = element("table", element("caption", caption), element("thead", head), body)
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _replacements(view: SweepView) -> Element | None:
    if not view.replacements:
        return None
    head = element("tr", *(element("th", name, scope="col") for name in ("File", "Entry", "Target", "Replacement")))
    rows = (
        element("tr", *(element("td", text) for text in (each.file, each.entries, each.targets, each.words)))
        for each in view.replacements
    )
    return _section("replacements", "Replacements", _table(REPLACEMENTS, head, element("tbody", *rows)))


def _effect(inert: bool, probes: int, share: float, lines: int) -> str:
    if inert:
        return f"never, in {probes:,} comparisons"
    return f"in {percent(share)} of {lines:,} comparisons" if lines else "not known"


def _repeat(view: SweepView) -> Element:
    command = element("pre", view.again, tabindex=0, role="region", aria_label="Command")
    return _section("repeat", "Repeat", command)


def _imprint(view: SweepView) -> Iterator[str]:
    yield f"Made by triton-triage {__version__}. What is predicted was not compiled."
    if view.scrubber is not None and view.scrubber.removed:
        kinds = ", ".join(f"{name} ({number})" for name, number in sorted(view.scrubber.removed.items()))
        yield f"Taken out before this left the machine, or shortened: {kinds}."
