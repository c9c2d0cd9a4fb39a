"""SARIF 2.1.0, for code scanning: a rule for each known bug or signature, a result for each failure.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0; which properties code scanning reads:
docs.github.com/en/code-security/code-scanning, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from triage._version import __version__
from triage.publish.ci.checked import Checked, Failure, Verdict
from triage.publish.ci.places import Place

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "tritonTriageSignature/v1"
"""Names how the fingerprint is made: another way to make it is another name."""


def sarif(checked: Sequence[Checked]) -> str:
    """The document."""
    found = [(one, failure) for one in checked for failure in one.failures]
    rules: dict[str, dict[str, Any]] = {}
    for _, failure in found:
        rules.setdefault(_rule_id(failure), _rule(failure))
    places = {name: place for place, name in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "triton-triage", "version": __version__, "rules": list(rules.values())}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(checked)],
        "results": [_result(one, failure, places[_rule_id(failure)]) for one, failure in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule_id(failure: Failure) -> str:
    return failure.known.id if failure.known else f"signature/{failure.fingerprint}"


def _rule(failure: Failure) -> dict[str, Any]:
    known = failure.known
    if known is None:
        return {
            "id": _rule_id(failure),
            "shortDescription": {"text": failure.headline or failure.kind},
            "fullDescription": {"text": failure.signature or failure.headline or failure.kind},
            "defaultConfiguration": {"level": "error"},
        }
    return {
        "id": known.id,
        "shortDescription": {"text": known.title or known.id},
        "fullDescription": {"text": known.cause or known.title or known.id},
        "help": {"text": known.cause or known.title or known.id},
        "defaultConfiguration": {"level": "error"},
        **({"helpUri": known.link} if known.link else {}),
    }


def _result(one: Checked, failure: Failure, index: int) -> dict[str, Any]:
    instead = f" Compiles instead: {failure.instead[0]}" if failure.instead else ""
    passes = [{"name": failure.pass_name, "fullyQualifiedName": _qualified(failure)}] if failure.pass_name else []
    location: dict[str, Any] = {"logicalLocations": passes} if passes else {}
    if failure.places:
        location["physicalLocation"] = _physical(failure.places[0])
    # Of the others only the place counts: where in the log it was read.
    related = [
        {"id": number, "physicalLocation": _physical(place)} for number, place in enumerate(failure.places[1:], 1)
    ]
    return {
        "ruleId": _rule_id(failure),
        "ruleIndex": index,
        "level": "error",
        "message": {"text": f"{failure.headline or failure.kind} ({one.about or one.name}){instead}"},
        **({"locations": [location]} if location else {}),
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {_FINGERPRINT: failure.fingerprint},
        "properties": {
            "case": one.name,
            "kind": failure.kind,
            "stage": failure.stage,
            "signature": failure.signature,
            "message": failure.message,
        },
    }


def _qualified(failure: Failure) -> str:
    return "/".join(part for part in (failure.stage, failure.pass_name) if part)


def _physical(place: Place) -> dict[str, Any]:
    # Two slashes at the beginning would name a host.
    uri = f"file:///{quote(place.uri.lstrip('/'))}" if place.uri.startswith("/") else quote(place.uri)
    artifact = {"uri": uri, **({"uriBaseId": "SRCROOT"} if place.inside else {})}
    region = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    return {"artifactLocation": artifact, "region": region}


def _invocation(checked: Sequence[Checked]) -> dict[str, Any]:
    """Whether triage could do its work, and on what it could not."""
    unknown = [one for one in checked if one.verdict is Verdict.UNKNOWN]
    notes = [{"level": "error", "message": {"text": f"{one.name}: {one.about}"}} for one in unknown]
    return {"executionSuccessful": not unknown, **({"toolExecutionNotifications": notes} if notes else {})}
