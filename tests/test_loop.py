"""The event loop of our own runs."""

from __future__ import annotations

import asyncio

import pytest

from dialectree import loop, streams


class Record:
    """What a run comes to; to write a whole one out takes long."""

    written = 0

    def __repr__(self) -> str:
        self.written += 1
        return "record"


@pytest.mark.parametrize("closed", [False, True], ids=["uvloop", "asyncio"])
def test_what_a_run_comes_to_is_not_written_out(
    monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr(streams, "closed", lambda: closed)
    record = Record()

    async def work() -> Record:
        await asyncio.sleep(0)
        return record

    assert loop.run(work()) is record
    assert record.written == 0


def test_what_a_run_raises_is_raised() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        loop.run(work())
