"""Keep the threads of a server in a SQLite file, so that they outlive a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from dialectree.protocols.sources import threads_file

_LOG = logging.getLogger("dialectree")


@asynccontextmanager
async def checkpointer() -> AsyncIterator[SavedThreads]:
    """Open the file of the server's threads, for ``checkpointer`` in langgraph.json."""
    path = threads_file()
    await asyncio.to_thread(path.parent.mkdir, 0o700, parents=True, exist_ok=True)
    async with aiosqlite.connect(path) as connection:
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=NORMAL")  # a kill loses nothing
        saver = SavedThreads(connection)
        await saver.setup()  # AsyncSqliteSaver's deletions do not create the tables
        try:
            yield saver
        finally:
            await saver.finish_deletions()


class SavedThreads(AsyncSqliteSaver):
    """A saver that also supports all deletions that the server may ask for."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__(connection)
        self._deletions: set[asyncio.Task[None]] = set()

    async def adelete_thread(self, thread_id: str) -> None:
        """Begin to delete the saved data of a thread, and return at once.

        The server (langgraph-runtime-inmem 0.36.7) notes the thread's position in its list, calls
        this method, and then drops the thread at that position. If this method waited, other
        deletions would change the list, and the server would drop another thread.
        """
        deletion = asyncio.create_task(super().adelete_thread(thread_id))
        self._deletions.add(deletion)
        deletion.add_done_callback(self._end_deletion)

    def _end_deletion(self, deletion: asyncio.Task[None]) -> None:
        self._deletions.discard(deletion)
        if not deletion.cancelled() and (error := deletion.exception()):
            _LOG.error("the saved data of a thread could not be deleted: %s", error)

    async def finish_deletions(self) -> None:
        """Wait until all begun deletions have ended."""
        await asyncio.gather(*self._deletions, return_exceptions=True)

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Delete the saved data of runs, as when a run is rolled back."""
        for run_id in run_ids:
            await self._delete("json_extract(CAST(metadata AS TEXT), '$.run_id') = ?", str(run_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the history of the threads, except the newest state of each graph in them."""
        for thread_id in map(str, thread_ids):
            if strategy == "delete_all":
                await self.adelete_thread(thread_id)
            else:
                await self._delete(
                    "thread_id = ? AND checkpoint_id < (SELECT MAX(checkpoint_id) FROM checkpoints"
                    " AS newer WHERE newer.thread_id = checkpoints.thread_id"
                    " AND newer.checkpoint_ns = checkpoints.checkpoint_ns)",
                    thread_id,
                )

    async def _delete(self, where: str, value: str) -> None:
        """Delete the checkpoints that match, and their writes."""
        async with self.lock:
            await self.conn.execute(
                "DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT"
                f" thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE {where})",
                (value,),
            )
            await self.conn.execute(f"DELETE FROM checkpoints WHERE {where}", (value,))
            await self.conn.commit()
