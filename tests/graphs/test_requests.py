"""A debate without sources asks what it asked before debates could argue from sources."""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from pathlib import Path

import pytest
import yaml

from tests.graphs.test_every_protocol import Way, every

AGREED = Path(__file__).with_name("requests.yaml")


@every
def test_every_request_is_byte_for_byte_as_it_was(way: Way, request: pytest.FixtureRequest) -> None:
    done = asyncio.run(way.debate(way.speakers()))
    keys = sorted(call.key for call in done.calls)
    digest = blake2b("\n".join(keys).encode(), digest_size=16).hexdigest()
    agreed = yaml.safe_load(AGREED.read_text(encoding="utf-8"))
    assert [len(keys), digest] == agreed[request.node.callspec.id]
