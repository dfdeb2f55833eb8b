"""Hostile text in every field of a run, on the page in a file, without scripts, and served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dialectree import report
from dialectree.records import Call, Event, RunRecord, fold_run
from dialectree.records.folder import RunFolder
from dialectree.records.journal import PromptText
from dialectree.text import clean
from tests.web.serving import viewed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
ASK = "http://127.0.0.1:9/hacked"
RUN = f"window.hacked=1;fetch('{ASK}')"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}//--></script>",
    f"--><script>{RUN}</script><!--",
    f"</noscript><img src='{ASK}' onerror=\"{RUN}\">",
    f"</title></textarea></style></pre><svg/onload={RUN}>",
    f'" autofocus onfocus="{RUN}" onmouseover="{RUN}" x="',
    f"' onclick='{RUN}' style='background:url({ASK})",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s></svg>",
    f"<math><mtext><style><img src=x onerror={RUN}></style></mtext></math>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<object data='{ASK}'></object><embed src='{ASK}'><video src='{ASK}' autoplay>",
    f"<link rel=stylesheet href='{ASK}'><base href='{ASK}/'>",
    f"<meta http-equiv=refresh content='0;url={ASK}'>",
    f"<style>@import '{ASK}'; * {{ background: url({ASK}) }}</style>",
    f"<form action='{ASK}'><button formaction=javascript:{RUN}>x</button></form>",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"[a link](javascript:{RUN}) [another]({ASK}) <{ASK}> {ASK}",
    f"![an image]({ASK}) ![x][1]\n\n[1]: {ASK}\n\n```html\n<script>{RUN}</script>\n```",
    f"# A heading\n\n<div onclick={RUN}>\n\n| a | b |\n|---|---|\n| {ASK} | 2 |\n\n---\n- [ ] x",
    f"{{{{constructor.constructor('{RUN}')()}}}} ${{{RUN}}} {{% include '{ASK}' %}} <%= 1 %>",
    f'"}},"verdict":{{"answer":"\\u003cscript>{RUN}</script>"}}]\n\ndata: {{"n":1}}\r\n\r\nid: 9',
    f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src=x onerror={RUN}&#62; &amp;quot;",
    "\u202egnihtemos\u202c \u2066isolated \u200bzero\u200dwidth\ufeff \u202e no end of it",
    "\x00\x01\x07\x08\x1b[31mred\x1b[0m\x1b]8;;http://a.example\x07link\x7f\x85\x9b end",
    f"a\u2028{RUN}\u2029b\x0bc\x0cd",
    "W" * 3000,
    "%00%3Cscript%3E%E0%A4%A ?a=b#c&d=e;../../etc/passwd",
    "__proto__",
    "constructor",
    "𝕋̷̛͎h̴e ﷽ 👩‍👩‍👧‍👦 \ufffd \U000e0041 \ue000 مرحبا שלום",
]
"""Texts that must be shown as they are; those that run anything set ``hacked`` or ask for it."""


def run_of(texts: Sequence[str], run_id: str) -> tuple[RunRecord, list[Call], list[Event], dict[str, str]]:
    """Return a run with ``texts`` in every field: the first at the root, each at a node below."""
    first, t, n = texts[0], "2026-01-31T12:00:00.000000Z", count(1)
    prompts = {sha256(text.encode()).hexdigest(): text for text in texts}
    events, calls = list[Event](), list[Call]()

    def tell(kind: Any, node: str, /, **data: Any) -> None:
        events.append(Event(n=next(n), t=t, run_id=run_id, node=node, kind=kind, data=data))

    def verdict(text: str) -> dict[str, Any]:
        grounds = [{"id": text, "source": text, "page": 1}]
        said = {name: text for name in ("answer", "label", "rationale", "confidence_source")}
        more = {"agreement": 0.5, "dissent": {text: text}, "grounds": grounds}
        return {**said, "confidence": 0.5, "notes": [text], "winner": text, **more}

    def fill(node: str, text: str) -> None:
        tell("scored", node, scores={"tau": 0.5, "strength": 0.5})
        for speaker in ("a", "b"):
            at = {"phase": "debate", "role": "debater", "speaker": speaker, "round": 1}
            fields = {
                "text": text, "items": [text, text], "short": [text[:20]], text: text,
                "parts": [{"title": text, "quote": f"“{text}”", "yes": True, "id": "0"}],
            }  # fmt: skip
            tell("spoke", node, **at, side=text, label=text, names=text, fields=fields)
            sent = {
                "messages": [("system", name) for name in prompts if prompts[name] == text],
                "reply_schema": "x", "response_format": "text", "decoding": {"top_p": 1},
                "served": text,
            }  # fmt: skip
            calls.append(
                Call.model_validate(
                    {"node": node, **at, "key": f"{node}{speaker}", "prompt": "a/b@1", "seed": 0}
                    | {"model": text, "started": t, "ended": t, "reply": text, "error": text}
                    | {"sent": sent}
                )
            )
        segment = {"id": f"a:{node}", "text": text, "heading": text, "page": 1}
        found = [{"id": segment["id"], "score": 0.5}]
        piece = {"id": f"s{node}:1", "text": text, "heading": text, "page": 1, "source": text}
        piece |= {"sentences": [[0, len(text)]]}
        hits = [{"id": piece["id"]}]
        tell("retrieved", node, of=text[:40], query=text, found=hits, segments=[piece])
        sentence = f"{piece['id']}.1"
        points = [{"id": text, "point": text, "sentences": [sentence, text]}]
        cites: dict[str, Any] = {"evidence": points, "rests_on": [sentence, text]}
        tell("spoke", node, phase="debate", role="poser", fields={}, **cites)
        marks = [{"point": text, "reason": text, "verdict": text}]
        tell("spoke", node, phase="check", role="checker", fields={"marks": marks})
        tell("retrieved", node, paper="a", of=text, query=text, found=found, segments=[segment])
        tell("noted", node, note=text, data={text: text, "claims": [{"title": text}]})
        tell("asked", node, note=f"{text} ")
        tell("failed", node, role="judge", speaker=text, fault=text)
        for take in (1, 2):
            tell("settled", node, verdict={**verdict(text), "take": take}, provenance=["0.0"])

    tell("began", "0")
    tell("opened", "0", text="\n".join(texts), depth=0, kind="claim")
    for number, text in enumerate(texts):
        node, stance = f"0.{number}", "attack" if number % 2 else "support"
        tell("opened", node, text=text, depth=1, kind=text, parent="0", stance=stance)
        fill(node, text)
        if number and number % 2:
            pair = {"supporter": f"0.{number - 1}", "attacker": node}
            tell("compared", "0", **pair, winner=text, reason=text)
    tell("branched", "0", children=[f"0.{number}" for number in range(len(texts))], kind="claim")
    fill("0", first)
    tell("concluded", "0", **verdict(first))
    usage = {"wall_s": 1.0, "embedding_s": 0.0}
    tell("ended", "0", status="answered", usage=usage, notices=[*texts])
    record = RunRecord.model_validate(
        {
            "run_id": run_id, "protocol": "made_up", "method": "made_up", "status": "answered",
            "input": {
                "question": first, "options": texts,
                "papers": [{"name": text, "title": text, "abstract": text} for text in texts],
                "sources": [
                    {"id": f"s0.{number}", "name": text, "title": f"{text} ", "digest": text}
                    for number, text in enumerate(texts)
                ],
            },
            "settings": {"model": first, "roles": {text: text for text in texts}},
            "models": {text: text for text in texts},
            "declared": {
                "made_up": {
                    "title": first, "summary": first, "source": first, "view": "arguments",
                    "unit": first, "roles": {"debater": ""},
                    "phases": [{"role": "debater", "captions": {"text": first}}],
                    "look": {
                        "stops": {"deep": first}, "signs": first, "weighing": [first],
                        "comparing": [first], "tasks": {"support": first},
                        "scores": {"tau": {"sign": first, "meaning": first}},
                    },
                }
            },
            "contest": {
                "run": first, "changes": texts, "before": 0.5, "after": 0.6, "why": first,
                "overrides": [
                    {"id": text, "what": "replaced", "spots": [], "before": text, "after": text}
                    for text in texts
                ],
                "moved": [{"node": "0.0", "before": verdict(first), "after": verdict(first)}],
            },
            "notices": texts, "started": t, "ended": t,
        }
    )  # fmt: skip
    folded = fold_run(events, record.order())
    record = record.model_copy(update={"tree": folded.tree, "verdict": folded.verdict})
    return record, calls, events, prompts


MADE = """() => {
  const all = [...document.querySelectorAll("*")];
  const never = "img, svg, math, iframe, object, embed, form[action], base, video";
  const inHead = "body style, body link, body meta, body title";
  const handler = (one) => one.getAttributeNames().some((name) => name.startsWith("on"));
  const address = (one) => ["href", "src"].map((name) => one.getAttribute(name)).join("");
  const ours =
    /^([#?].*|data:,|[/][\\w-]+[/]page[/]|[.]{2}[/]evaluations[/][^/:<>]+[/][a-z.]+[/]?|)$/;
  const made = (one) => one.matches(`${never}, ${inHead}`) || handler(one);
  const wide = (one) => one.matches("html, .pane") && one.scrollWidth > one.clientWidth;
  const found = all.filter((one) => made(one) || !ours.test(address(one)) || wide(one));
  return [...(window.hacked ? ["it ran"] : []), ...found.map((one) => one.outerHTML.slice(0, 300))];
}"""
"""What text made of the page: an element, a handler, an address, a width to scroll to."""
GO = "to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }"


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Open a tab of a phone in which nothing may run, go wrong, or ask for what a text names."""
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda asked: wrong.append(asked.url) if ASK in asked.url else None)
    yield page
    context.close()
    assert wrong == []


def unfold(page: Page) -> None:
    """Open all that is folded, again where it came late; a run has calls and prompts, too."""
    opens = "document.querySelectorAll('details').forEach((one) => one.open = true)"
    seen = "document.querySelector('.beside') || document.querySelector('pre')?.checkVisibility()"
    page.wait_for_function(f"() => {{ {opens}; return {seen}; }}")


def letters(text: str | None) -> str:
    return "".join(filter(str.isalnum, text or ""))


def test_hostile_text_in_a_file_is_shown_and_never_run(tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report.html(*run_of(PAYLOADS, "hostile")), encoding="utf-8")
    tab.goto(file.as_uri())
    tab.locator(".run").wait_for()
    assert PAYLOADS[0].startswith(tab.title().removesuffix(" …"))
    for number, text in enumerate(PAYLOADS):
        tab.evaluate(f"location.hash = '#0.{number}'")
        tab.locator(".state .id").get_by_text(f"0.{number}", exact=True).wait_for(state="attached")
        unfold(tab)
        assert tab.evaluate(MADE) == []
        assert str(tab.locator(".detail").text_content()).count(text) > 20, text
        tab.evaluate(f"location.hash = '#s0.{number}:1.1'")
        tab.locator(".source .linked").wait_for()
        assert tab.evaluate(MADE) == []
        assert str(tab.locator(".source").text_content()).count(text) > 3, text
        tab.get_by_role("button", name="Close", exact=True).click()
    tab.evaluate("location.hash = '#%E0%A4%A'")
    tab.evaluate("location.hash = '#0'")
    tab.locator(".path").wait_for(state="detached")
    unfold(tab)
    assert tab.evaluate(MADE) == []
    shown = str(tab.locator(".run").text_content())
    assert {text for text in PAYLOADS if shown.count(text) < 6} == set()
    tab.get_by_role("button", name="‹ The tree").click()
    for text in PAYLOADS:
        tab.get_by_role("searchbox").fill(text)
        assert tab.evaluate(MADE) == []


def test_hostile_text_is_text_without_scripts(browser: Browser, tmp_path: Path) -> None:
    file, asked = tmp_path / "report.html", list[str]()
    file.write_text(report.html(*run_of(PAYLOADS, "hostile")), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False, viewport={"width": 390, "height": 900})
    page.on("request", lambda one: asked.append(one.url))
    page.goto(file.as_uri())
    assert page.evaluate(MADE) == [] and asked == [file.as_uri()]
    shown = letters(page.locator("noscript").text_content())
    assert {text for text in PAYLOADS if shown.count(letters(clean(text))) < 20} == set()
    page.context.close()


def test_hostile_text_on_a_server_is_shown_and_never_run(tab: Page, tmp_path: Path) -> None:
    for number, text in enumerate(PAYLOADS):
        record, calls, events, texts = run_of([text], f"hostile-{number}")
        folder = RunFolder.create(tmp_path / "runs", record.run_id)
        folder.write_whole(record, events, calls)
        lines = (PromptText(hash=name, text=sent).model_dump_json() for name, sent in texts.items())
        folder.write("prompts.jsonl", "".join(f"{line}\n" for line in lines))
    offer: dict[str, Any] = {"name": "made_up", "kind": "claim"}
    offer["presets"] = {text: {text: text} for text in PAYLOADS}
    offer["preset_words"] = {text: [text] for text in PAYLOADS}
    offer["examples"] = [{"claim": text} for text in PAYLOADS[:3]]
    shown = {name: PAYLOADS[0] for name in ("title", "summary", "description")}
    fields = {text: {"type": "string", "description": text, "default": text} for text in PAYLOADS}
    form = {"properties": {**fields, "more": {**shown, "properties": fields}}}
    offer |= {**shown, "forms": {"given": form, "settings": form}}
    asked = {"node": "0.0", **dict.fromkeys(("request", "transcript", "labels"), PAYLOADS[0])}
    tab.route("**/protocols", lambda one: one.fulfill(json={"acts": True, "protocols": [offer]}))
    estimate = {"input": {}, "remarks": [PAYLOADS[0]], "estimate": {"line": PAYLOADS[1]}}
    tab.route("**/prepare", lambda one: one.fulfill(json=estimate))
    of = {"data": PAYLOADS[0], "questions": 1, "started": PAYLOADS[0], "report": True}
    rows = [{"name": text, "method": text, "judged": 1, "accuracy": 0.5} for text in PAYLOADS]
    rated = [{"name": text, "title": text, **of, "rows": rows} for text in PAYLOADS[:2]]
    tab.route("**/evaluations", lambda one: one.fulfill(json=rated))
    tab.route("**/asked", lambda one: one.fulfill(json=asked))
    with viewed(tmp_path / "runs") as address:
        tab.goto(f"{address}?new")
        tab.get_by_role("button", name="Start the debate").wait_for()
        tab.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        tab.get_by_label("Other presets").select_option(PAYLOADS[1])
        tab.locator(".examples button").first.click()
        assert tab.evaluate(MADE) == []
        tab.goto(address)
        tab.locator(".runs li").nth(len(PAYLOADS) - 1).wait_for()
        assert tab.evaluate(MADE) == []
        for number, text in enumerate(PAYLOADS):
            tab.evaluate(GO, f"?run=hostile-{number}#0.0")
            tab.locator(f".run[data-run=hostile-{number}] .moment", has_text="Ended").wait_for()
            unfold(tab)
            assert tab.evaluate(MADE) == []
            assert str(tab.locator(".detail").text_content()).count(text) > 20, text
            tab.evaluate(GO, f"?run=hostile-{number}&beside=hostile-0")
            tab.locator(".beside h2").first.wait_for()
            unfold(tab)
            assert tab.evaluate(MADE) == []
        tab.get_by_text("All debates").click()
        for text in PAYLOADS:
            tab.get_by_role("searchbox").fill(text)
            assert tab.evaluate(MADE) == []
        tab.goto("about:blank")  # it asks for nothing when the server has gone
