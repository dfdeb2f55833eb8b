"""The hub that models are fetched from: what it publishes, and what it refuses, in one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from dialectree.addresses import public, veiled
from dialectree.errors import DialectreeError, InputError, KeyRefused, RequestError, Unreachable

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes in all; it may come from another thread."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Remote(NamedTuple):
    """A file on the hub."""

    repository: str
    """Owner and name."""
    name: str


class Published(NamedTuple):
    """What the hub says about a file: the newest commit, and what the bytes must be."""

    revision: str
    sha256: str
    size_bytes: int


@contextmanager
def asked(file: Remote, endpoint: str | None) -> Iterator[str]:
    """The hub's address; for as long as it is in use it is told nothing about this machine.

    What it refuses, and what goes wrong on the way, is told in one line. Faults of the disk pass.
    """
    from huggingface_hub import constants
    from huggingface_hub.errors import HfHubHTTPError

    hub = _address(endpoint or constants.ENDPOINT)
    shown = public(hub)
    # The hub's errors share this base with those of its HTTP client, whichever that is.
    client_error = cast("type[Exception]", HfHubHTTPError.__bases__[0])
    logger = logging.getLogger("huggingface_hub")
    before = constants.HF_HUB_DISABLE_TELEMETRY, logger.level
    constants.HF_HUB_DISABLE_TELEMETRY = True
    logger.setLevel(logging.ERROR)
    try:
        yield hub
    except DialectreeError:
        raise
    except HfHubHTTPError as error:
        raise _refusal(error.response.status_code, file, shown) from error
    except OSError as error:
        if error.errno is not None and not isinstance(error, ConnectionError | TimeoutError):
            raise
        raise Unreachable(f"no {file.name} from {shown}: {_first_line(error)}") from error
    except (client_error, RuntimeError) as error:
        raise Unreachable(f"no {file.name} from {shown}: {_first_line(error)}") from error
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY = before[0]
        logger.setLevel(before[1])


def _address(endpoint: str) -> str:
    """The address without a closing stroke, if it is one."""
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(f"{veiled(endpoint)!r} is not the address of a hub: say https://HOST")
    return endpoint.rstrip("/")


def _refusal(status: int, file: Remote, hub: str) -> KeyRefused | Unreachable | RequestError:
    """What a status of the hub means to whoever wants the file."""
    if status in (401, 403):
        return KeyRefused(
            f"{hub} does not give out {file.repository} ({status}): it is gated, private or gone; "
            "a token in HF_TOKEN may open it"
        )
    if status == 429 or status >= 500:
        return Unreachable(f"{hub} cannot give out {file.repository} now ({status}); try later")
    return RequestError(f"{hub} has no {file.name} in {file.repository} ({status})")


def published(file: Remote, hub: str) -> Published:
    """Ask the hub which commit is the newest, and what the file's bytes must be."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    told = get_hf_file_metadata(hf_hub_url(file.repository, file.name, endpoint=hub))
    revision, sha256 = told.commit_hash or "", told.etag or ""
    if not (_COMMIT.fullmatch(revision) and _SHA256.fullmatch(sha256) and told.size):
        raise Unreachable(
            f"{public(hub)} does not answer like a model hub: no commit, SHA-256 and size"
        )
    return Published(revision, sha256, told.size)


def download(
    file: Remote, published: Published, hub: str, workshop: Path, progress: Progress | None
) -> Path:
    """Bring the file of that very commit into the workshop."""
    from huggingface_hub import hf_hub_download

    staged = hf_hub_download(
        file.repository,
        file.name,
        revision=published.revision,
        local_dir=workshop,
        endpoint=hub,
        tqdm_class=cast("Any", _meter(published.size_bytes, progress)),
    )
    if progress is not None:  # a copy out of the hub's own cache moves no meter
        progress(published.size_bytes, published.size_bytes)
    return Path(staged)


def _meter(size_bytes: int, progress: Progress | None) -> type:
    """A class with the face of a tqdm bar that draws nothing and tells ``progress`` instead.

    ``update_transfer`` is there so that chunked storage counts one bar, the bytes that are on the
    disk, and not the bytes of the line as well.
    """

    class Meter:
        def __init__(self, *_: object, initial: float = 0, **__: object) -> None:
            self.n = int(initial)
            self.total = size_bytes

        def __enter__(self) -> Meter:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def update(self, n: float | None = 1) -> None:
            self.n += int(n or 0)
            if progress is not None:
                progress(self.n, size_bytes)

        def update_transfer(self, n: float | None = 1) -> None: ...

        def set_postfix_str(self, *_: object, **__: object) -> None: ...

        def set_transfer_postfix_str(self, *_: object, **__: object) -> None: ...

        def refresh(self, *_: object, **__: object) -> None: ...

        def close(self) -> None: ...

    return Meter


def _first_line(error: BaseException) -> str:
    """The first line of what an error says, without the rest of its advice.

    An address in it may be the hub's, with the user and password that it was given with.
    """
    lines = [line.strip() for line in public(str(error)).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
