"""SARIF 2.1.0, for code scanning: a rule for each known bug or signature, a result for each failure.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0; which properties code scanning reads:
docs.github.com/en/code-security/code-scanning, "SARIF support for code scanning".
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from triage._version import __version__
from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict
from triage.publish.ci.positions import FilePosition

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "tritonTriageSignature/v1"
"""Names the algorithm of the fingerprint: changing it requires another name."""


def sarif(checked: Sequence[Checked]) -> str:
    """The document."""
    failures = [(checked_, failure) for checked_ in checked for failure in checked_.failures]
    rules: dict[str, dict[str, Any]] = {}
    for _, failure in failures:
        rules.setdefault(_rule_id(failure), _rule(failure))
    indices = {name: index for index, name in enumerate(rules)}
    unknown = [checked_ for checked_ in checked if checked_.verdict is CheckVerdict.UNKNOWN]
    notes = [{"level": "error", "message": {"text": f"{checked_.name}: {checked_.about}"}} for checked_ in unknown]
    notifications = {"toolExecutionNotifications": notes} if notes else {}
    run = {
        "tool": {"driver": {"name": "triton-triage", "version": __version__, "rules": list(rules.values())}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not unknown, **notifications}],
        "results": [_result(checked_, failure, indices[_rule_id(failure)]) for checked_, failure in failures],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule_id(failure: CheckedFailure) -> str:
    return failure.known.id if failure.known else f"signature/{failure.fingerprint}"


def _rule(failure: CheckedFailure) -> dict[str, Any]:
    known = failure.known
    title = (known.title or known.id) if known else (failure.headline or failure.kind)
    text = (known.cause if known else failure.signature) or title
    rule: dict[str, Any] = {
        "id": _rule_id(failure),
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "defaultConfiguration": {"level": "error"},
    }
    if known is not None:
        rule["help"] = {"text": text}
        links = [url for url in known.upstream if url.startswith("https://")]
        rule |= {"helpUri": links[0]} if links else {}
    return rule


def _result(checked: Checked, failure: CheckedFailure, index: int) -> dict[str, Any]:
    instead = f" Compiles instead: {failure.instead[0]}" if failure.instead else ""
    location: dict[str, Any] = {}
    if failure.pass_name:
        qualified = "/".join(part for part in (failure.stage, failure.pass_name) if part)
        location["logicalLocations"] = [{"name": failure.pass_name, "fullyQualifiedName": qualified}]
    if failure.positions:
        location["physicalLocation"] = _physical(failure.positions[0])
    # Of the others only the position counts: where in the log it was read.
    related = [
        {"id": number, "physicalLocation": _physical(position)}
        for number, position in enumerate(failure.positions[1:], 1)
    ]
    return {
        "ruleId": _rule_id(failure),
        "ruleIndex": index,
        "level": "error",
        "message": {"text": f"{failure.headline or failure.kind} ({checked.about or checked.name}){instead}"},
        **({"locations": [location]} if location else {}),
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {_FINGERPRINT: failure.fingerprint},
        "properties": {
            "case": checked.name,
            "kind": failure.kind,
            "stage": failure.stage,
            "signature": failure.signature,
            "message": failure.message,
        },
    }


def _physical(position: FilePosition) -> dict[str, Any]:
    # Two slashes at the beginning would name a host.
    uri = f"file:///{quote(position.uri.lstrip('/'))}" if position.uri.startswith("/") else quote(position.uri)
    artifact = {"uri": uri, **({"uriBaseId": "SRCROOT"} if position.inside else {})}
    region = {"startLine": position.line, **({"startColumn": position.column} if position.column else {})}
    return {"artifactLocation": artifact, "region": region}
