"""What tests of every protocol's failing parts share."""

from __future__ import annotations

import pytest

from tests.graphs.debating import FAULTS
from tests.scripted import Said


@pytest.fixture(params=FAULTS, ids=[*FAULTS])
def fault(request: pytest.FixtureRequest) -> Said:
    """Return a reply, or an error, that fails for good."""
    return FAULTS[str(request.param)]
