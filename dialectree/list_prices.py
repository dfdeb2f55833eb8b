"""Look up list prices of models, in US dollars, in the table of the package genai-prices.

The table lies in the package: nothing is fetched. It has the public prices of providers at the date
of its release, so an endpoint of one's own has none.
"""

from __future__ import annotations

from importlib.metadata import version

from dialectree.system import clock

_RELEASED = {"0.2.3": "2026-11-10"}
"""The date of the table by the version of the package, which itself tells none."""
_INSTALLED = version("genai-prices")  # read at import: a server's event loop must not read files
TABLE = _RELEASED.get(_INSTALLED, f"genai-prices {_INSTALLED}")
"""The date of the table, or the package's version if its date is not known here."""


def list_price(
    provider: str, model: str, url: str | None, prompt_tokens: int, completion_tokens: int
) -> float | None:
    """Return the list price of a call in dollars; None for a model or an address without one.

    Args:
        provider: LangChain's name of the provider; it counts only without an address.
        url: the address of the endpoint.
    """
    from genai_prices import Usage, calc_price  # takes a fifth of a second

    usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens)
    now = clock.read_utc_time()
    try:
        if url is not None:
            found = calc_price(usage, model, provider_api_url=url, genai_request_timestamp=now)
        else:
            found = calc_price(usage, model, provider_id=provider, genai_request_timestamp=now)
    except LookupError:
        return None
    return float(found.total_price)
