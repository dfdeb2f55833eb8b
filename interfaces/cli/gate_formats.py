"""Findings on claims for people and for other programs: text, JSON, JUnit and SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from dialectree.interfaces.agents.claims import Finding
from dialectree.text import clean, figure

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "claim-not-probable": "A claim is less probable than the gate demands.",
    "claim-without-probability": "A claim was not found true, and has no probability.",
    "claim-not-decided": "A debate about a claim ended without a label.",
}


@dataclass(frozen=True)
class Findings:
    """The findings on all claims of a text."""

    file: str
    method: str
    minimum: float
    demonstration: bool
    """True if a model took part that is so small that it answers at chance."""
    claims: Sequence[Finding]
    complete: bool = True
    """False if an error ended the verification early."""

    @property
    def failed(self) -> list[Finding]:
        """Return the claims that do not pass."""
        return [finding for finding in self.claims if not finding.passed]


def text(findings: Findings) -> str:
    """Return ``notes.md:3: pass 0.82 Fire is hot. (run 20260131-120000-1a2b3c)`` for each claim."""
    lines = []
    for finding in findings.claims:
        run = f" (run {finding.run})" if finding.run else ""
        ruling = "pass" if finding.passed else "FAIL" if finding.decided else "FAIL not decided"
        lines.append(
            f"{findings.file}:{finding.line}: {ruling} {figure(finding.probability)} {finding.claim}{run}"
        )
        if not finding.passed and finding.reason:
            lines.append(f"    {finding.reason}")
    return clean("\n".join(lines))


def as_json(findings: Findings) -> str:
    """Return one JSON document."""
    document = {
        "file": findings.file,
        "method": findings.method,
        "min": findings.minimum,
        "passed": not findings.failed,
        "complete": findings.complete,
        "demonstration": findings.demonstration,
        "claims": [finding.model_dump() for finding in findings.claims],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def junit(findings: Findings) -> str:
    """Return a JUnit report: a test case for each claim, a failure for each that does not pass."""
    counts = {
        "name": "dialectree gate",
        "tests": str(len(findings.claims)),
        "failures": str(len(findings.failed)),
        "errors": "0",
        "skipped": "0",
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", counts)
    for finding in findings.claims:
        about = {
            "classname": clean(findings.file),
            "name": clean(finding.claim),
            "file": clean(findings.file),
            "line": str(finding.line),
        }
        case = ElementTree.SubElement(suite, "testcase", about)
        if not finding.passed:
            message = {"message": clean(_message(finding, findings.minimum)), "type": _rule(finding)}
            ElementTree.SubElement(case, "failure", message).text = clean(finding.reason)
        if finding.run:
            ElementTree.SubElement(case, "system-out").text = f"run {finding.run}"
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)


def sarif(findings: Findings) -> str:
    """Return a SARIF 2.1.0 log with a result for each claim that does not pass."""
    driver = {
        "name": "dialectree",
        "version": version("dialectree"),
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": findings.complete}],
        "results": [_result(finding, findings) for finding in findings.failed],
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=1)


def _result(finding: Finding, findings: Findings) -> dict[str, Any]:
    path = Path(findings.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    region = {"startLine": finding.line, "endLine": finding.last_line}
    place = {"artifactLocation": {"uri": uri}, "region": region}
    words = ": ".join(filter(None, [_message(finding, findings.minimum), finding.reason]))
    return {
        "ruleId": _rule(finding),
        "level": "error",
        "message": {"text": clean(words)},
        "locations": [{"physicalLocation": place}],
        "properties": {"probability": finding.probability, "run": finding.run},
    }


def _rule(finding: Finding) -> str:
    if not finding.decided:
        return "claim-not-decided"
    return "claim-without-probability" if finding.probability is None else "claim-not-probable"


def _message(finding: Finding, minimum: float) -> str:
    if not finding.decided:
        return f"Not decided: {finding.claim}"
    if finding.probability is None:
        return f"Not found true: {finding.claim}"
    return f"P(claim) {figure(finding.probability)} is below {minimum:g}: {finding.claim}"


FORMATS: dict[str, Callable[[Findings], str]] = {
    "text": text,
    "json": as_json,
    "junit": junit,
    "sarif": sarif,
}
