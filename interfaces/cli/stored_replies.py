"""Count and delete the replies that the file of the reply cache keeps."""

from __future__ import annotations

import sqlite3

from dialectree.models.cache import SqliteCache

_OF_AN_AGE = """
from completions left join kept using (key)
where coalesce(kept.at, (select at from kept where key = '')) < ?
"""


def count_replies(cache: SqliteCache, before: float | None = None) -> tuple[int, int]:
    """Return the number of completions, and their size in bytes.

    With ``before``, in seconds since 1970, only completions that were kept earlier are counted.
    """
    if not cache.path.is_file():
        return 0, 0
    try:
        query = f"select count(*), coalesce(sum(length(completion)), 0) {_OF_AN_AGE}"
        number, size = cache.open().execute(query, (_until(before),)).fetchone()
        return int(number), int(size)
    except (sqlite3.Error, OSError) as error:
        raise cache.fail(error) from error


def remove_replies(cache: SqliteCache, before: float | None = None) -> None:
    """Remove completions; with ``before`` only those that were kept earlier.

    The texts of removed completions are erased from the file.
    """
    try:
        connection, until = cache.open(), (_until(before),)
        connection.execute("pragma secure_delete = on")
        connection.execute(f"delete from completions where key in (select key {_OF_AN_AGE})", until)
        connection.execute("delete from kept where key != '' and key not in (select key from completions)")
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)")
    except (sqlite3.Error, OSError) as error:
        raise cache.fail(error) from error


def _until(before: float | None) -> float:
    return float("inf") if before is None else before
