"""Connections of a store: a pool of them, transactions that are tried again, and never done twice.

A transaction that could not be finished (the server was restarted, the connection was cut, two writers met) is tried again some
times. If the connection is lost while it commits, nobody has said whether it did: the database is asked what became of it (``commits.py``).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format, TransactionStatus

from lookalike.errors import StoreBusy, StoreError
from lookalike.stores.postgres.address import Address
from lookalike.stores.postgres.commits import FORGET, Mark, Marks
from lookalike.stores.postgres.copying import binary_array
from lookalike.stores.postgres.problems import is_transient, met_others, sql_errors
from lookalike.stores.postgres.search_path import BEGIN, BEGIN_READING, OF_THE_SESSION, rolled_back, transaction

DELAYS = (0.05, 0.2, 0.8, 2.0, 4.0)  # seconds before each further attempt: a server that restarts is back within them
# Writers who met wait for different times, or they would meet again: at most so long, and twice as long after each further meeting.
MEETINGS, FIRST_PAUSE, LONGEST_PAUSE = 14, 0.02, 2.0
WAIT = 30.0  # seconds for a free connection of the pool
_chance = random.SystemRandom()
Connection = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")
# Every query of ours has an index; the planner, which does not know how few entries a key has, would sometimes read everything.
SETTINGS = {"jit": "off", "enable_seqscan": "off", "max_parallel_workers_per_gather": "0", "client_min_messages": "error"}


class _Bigints(Dumper):
    """An array of numpy's as ``bigint[]``: to write out a list number by number takes longer than what is done with it."""

    oid, format = 1016, Format.BINARY

    def dump(self, obj: np.ndarray[Any, np.dtype[np.int64]]) -> bytes:
        return binary_array(obj)


class Connections:
    """At most so many at once; those that are free are kept for the next who needs one."""

    def __init__(self, address: Address, *, read_only: bool) -> None:
        self.address, self._read_only = address, read_only
        self._slots = threading.BoundedSemaphore(address.pool)
        self._idle: list[Connection] = []
        self.marks = Marks()
        self._process = os.getpid()
        self._closed = False

    def connect(self) -> Connection:
        connection: Connection = psycopg.connect("", autocommit=True, **self.address.options, application_name="lookalike")
        connection.adapters.register_dumper(np.ndarray, _Bigints)
        settings = SETTINGS | {"statement_timeout": str(self.address.timeout)}
        if self._read_only:
            settings["default_transaction_read_only"] = "on"
        # One message, of statements that look nothing up.
        connection.execute("; ".join((OF_THE_SESSION, *(f"SET {name} = '{value}'" for name, value in settings.items()))))
        return connection

    def require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.address.name} is closed: open it again")

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One for the caller alone."""
        self.require_open()
        if self._process != os.getpid():  # after a fork the connections are the parent's
            self._idle, self._process, self.marks = [], os.getpid(), Marks()
            self._slots = threading.BoundedSemaphore(self.address.pool)
        if not self._slots.acquire(timeout=WAIT):
            raise StoreBusy(f"{self.address.name}: all {self.address.pool} connections are in use: set a larger pool= in the URL")
        try:
            connection = self._take() or self.connect()
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._slots.release()

    def _take(self) -> Connection | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _give_back(self, connection: Connection) -> None:
        if connection.closed or self._closed or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _drop_idle(self) -> None:
        while connection := self._take():
            connection.close()

    def close(self) -> None:
        if self._process != os.getpid():  # closing what a fork has inherited would end the sessions of its parent
            self._idle = []
        elif self.marks.used and not self._closed and (connection := self._take()):
            with suppress(psycopg.Error), transaction(connection):  # compacting forgets them as well
                connection.execute("SET LOCAL synchronous_commit = off")
                connection.execute(FORGET, (self.marks.used,))
            connection.close()
        self._closed = True
        self._drop_idle()

    def attempt(self, work: Callable[[Connection], Result]) -> Result:
        """What ``work`` returns, which runs outside a transaction or in one of its own; tried again where it may succeed then."""
        delays = iter(DELAYS)
        pauses = iter([min(FIRST_PAUSE * 2**meeting, LONGEST_PAUSE) for meeting in range(MEETINGS)])
        with sql_errors(self.address):
            while True:
                try:
                    with self.connection() as connection:
                        return work(connection)
                except psycopg.Error as error:
                    if met_others(error):
                        pause = next(pauses, None)
                        if pause is None:
                            raise
                        time.sleep(pause * _chance.random())
                        continue
                    delay = next(delays, None)
                    if delay is None or not is_transient(error):
                        raise
                    self._drop_idle()  # the others are likely to be lost as well
                    time.sleep(delay)

    def transaction(self, work: Callable[[Connection], Result]) -> Result:
        """What ``work`` returns, in a transaction that is committed once."""
        return self.attempt(lambda connection: self._commit(connection, work))

    def _commit(self, connection: Connection, work: Callable[[Connection], Result]) -> Result:
        connection.execute(BEGIN)
        try:
            self.marks.begin(connection)
            result = work(connection)
            mark = self.marks.end(connection)
        except BaseException:
            rolled_back(connection)
            raise
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError:
            if mark is None or not self._committed(mark):
                raise
        return result

    def _committed(self, mark: Mark) -> bool:
        """Whether the transaction was committed, although its connection is gone."""
        delays = iter(DELAYS)
        while True:
            try:
                with self.connect() as connection, transaction(connection):
                    return mark.was_committed(connection)
            except psycopg.OperationalError as error:
                delay = next(delays, None)
                if delay is None:
                    raise StoreError(
                        f"{self.address.name}: the connection was lost while committing; check whether the last batch is there"
                    ) from error
                time.sleep(delay)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection whose queries all see one state."""
        with self.snapshot_with("SELECT") as (connection, _):
            yield connection

    @contextmanager
    def snapshot_with(self, query: str) -> Iterator[tuple[Connection, tuple[Any, ...] | None]]:
        """The same, and the row of a first query, which goes with what begins the transaction: a message less.

        A lost connection is replaced before anything was read, not later.
        """
        with sql_errors(self.address), ExitStack() as held:
            connection, found = self._begin_reading(held, query)
            try:
                yield connection, found
            finally:
                rolled_back(connection)

    def _begin_reading(self, held: ExitStack, query: str) -> tuple[Connection, tuple[Any, ...] | None]:
        delays = iter(DELAYS)
        while True:
            try:
                with ExitStack() as trying:
                    connection = trying.enter_context(self.connection())
                    answers = connection.execute(f"{BEGIN_READING}; {query}")
                    while answers.nextset():
                        pass
                    found = answers.fetchone()
                    held.push(trying.pop_all())
                    return connection, found
            except psycopg.Error as error:
                delay = next(delays, None)
                if delay is None or not is_transient(error):
                    raise
            self._drop_idle()
            time.sleep(delay)
