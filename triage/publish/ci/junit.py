"""JUnit XML as Jenkins and GitLab read it: one test case for each case or log.

Source of the form: the schema of Jenkins' xUnit plugin, junit-10.xsd. ``error`` means that triage could not tell, which
does not count as passed."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain, escaped or not (production 2, Char)."""


def junit(checked: Sequence[Checked], suite: str) -> str:
    """The document; ``suite`` is the command."""
    counts = {verdict: sum(checked_.verdict is verdict for checked_ in checked) for verdict in CheckVerdict}
    numbers = {
        "tests": str(len(checked)),
        "failures": str(counts[CheckVerdict.FAILED]),
        "errors": str(counts[CheckVerdict.UNKNOWN]),
        "time": f"{sum(checked_.seconds for checked_ in checked):.3f}",
    }
    root = Xml.Element("testsuites", {"name": "triton-triage", **numbers})
    inner = Xml.SubElement(root, "testsuite", {"name": suite, **numbers, "skipped": "0"})
    for checked_ in checked:
        _case(inner, checked_, suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(suite: Xml.Element, checked: Checked, command: str) -> None:
    names = {"name": _text(checked.name), "classname": command, "time": f"{checked.seconds:.3f}"}
    case = Xml.SubElement(suite, "testcase", names)
    if checked.verdict is CheckVerdict.UNKNOWN:
        element = Xml.SubElement(case, "error", {"message": _text(checked.about), "type": "could-not-tell"})
        element.text = _text(checked.about)
    elif checked.failures:
        first = checked.failures[0]
        element = Xml.SubElement(case, "failure", {"message": _text(first.headline), "type": first.kind})
        element.text = _text("\n\n".join(_described(checked, failure) for failure in checked.failures))
    elif checked.about:
        Xml.SubElement(case, "system-out").text = _text(checked.about)


def _described(checked: Checked, failure: CheckedFailure) -> str:
    lines = [part for part in (checked.about, failure.message or failure.headline) if part]
    lines += [f"{name}: {text}" for name, text in failure.facts()]
    return "\n".join([*lines, *(f"compiles instead: {text}" for text in failure.instead)])


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
