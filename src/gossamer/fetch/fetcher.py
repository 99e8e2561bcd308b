"""The fetcher: many visits at once on one libcurl multi handle, woken by the event loop.

libcurl's `perform` serves every connection that has something to do in one call, which costs less per response than a
callback for each socket event. The kernel tells us when to call it: every socket is in one epoll set (edge-triggered,
put there once when it is opened), and that set is all the event loop watches (docs/decisions/0003-pycurl.md).
"""

from __future__ import annotations

import asyncio
import errno
import resource
import select
import socket
from collections.abc import Callable, Coroutine
from time import perf_counter

import pycurl

from gossamer.config import FetchConfig, HostRule
from gossamer.fetch.access import HEADERS, Access, Accesses, as_sent
from gossamer.fetch.cookies import Jar
from gossamer.fetch.fence import Fence
from gossamer.fetch.guard import Guard
from gossamer.fetch.options import options_of
from gossamer.fetch.ports import Ports
from gossamer.fetch.resolver import Answer, Resolver, ShortageError, literal
from gossamer.fetch.route import Route, Routes, split_host
from gossamer.fetch.transfer import Limits, Transfer, compiled
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.model.domain import is_public_name
from gossamer.model.url import host_of

Outcome = tuple[Visit, Page | Fault]

_AT_ONCE = 64  # outcomes of one wait, and visits started before the next: what comes in bursts is spread in time
_TICK = 0.05  # seconds: at least this often libcurl may look at its own time-outs
# `perform` looks at every visit in flight, which takes one to three microseconds for each. Where answers trickle in,
# looking after each of them would take most of the time, so turns are so many seconds apart for each visit in flight:
# 10 ms for 250 (docs/decisions/0003-pycurl.md).
_APART = 40e-6
_OF_AN_ANSWER = 1 / 40  # of the time that answers take is the most that is waited for others
_SHORTEST_REST = 0.001  # seconds; less is not worth it
_LEARNING = 1 / 16
_EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
_KEPT_FREE = 64  # file descriptors that no connection takes: the database needs some, and pycurl for a moment
_SHORT_PAUSE = 0.1  # seconds before a visit for which there was no file descriptor is begun again
_RECOVERY = 10.0  # seconds after which twice as many connections are tried again


class Fetcher:
    """Invariant: `in_flight` visits have been started and not yet returned, never more than `connections`."""

    def __init__(
        self,
        config: FetchConfig,
        user_agent: str,
        types: tuple[str, ...],
        networks: tuple[str, ...],
        resolver: Resolver,
        clock: Callable[[], float],
        hosts: tuple[HostRule, ...] = (),
        notice: Callable[[str], None] = lambda _: None,
        max_length: int = 0,
        sources: bool = False,
        domains: tuple[str, ...] = (),
    ) -> None:
        self._clock = clock
        self._resolver = resolver
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._loop.add_reader(self._epoll.fileno(), self._on_events)
        self._opened: list[socket.socket] = []
        self._wake: asyncio.Future[None] | None = None
        self._highest = _highest_descriptor()
        self._kept = max(config.connections * 2, min(64, self._highest // 4))  # connections that libcurl keeps
        self._multi = self._new_multi()
        self._fence: Fence | None = None
        self._accesses = Accesses(config, hosts, user_agent, resolver.redirect)
        self._usual = self._accesses.usual
        self._jar = Jar(clock)
        guard = self._guard = Guard(config.allow_private, networks, domains)
        self._routes = Routes(resolver, guard, Ports(config.ports))
        self._local_names = config.allow_private
        limits = Limits(config.max_body, config.max_headers, types, max_length, sources)
        options = options_of(config, user_agent)
        self._new_transfer: Callable[[], Transfer] = lambda: Transfer(
            guard, limits, self._watch, options, self._fence, lambda visit: self.may_post(visit)
        )
        # Whether a form may be sent now, or why not; nobody may unless somebody says so.
        self.may_post: Callable[[Visit], Reason | None] = lambda _: Reason.FORM
        # Whether a visit may be made now that the address is known that the name of its host was resolved to.
        self.may_visit: Callable[[Visit, str], bool] = lambda _, __: True
        self._put_off: list[Visit] = []  # because it may not, and not yet handed back
        self._free: list[Transfer] = []
        self._busy: dict[pycurl.Curl, Transfer] = {}
        self._connections = self._most = config.connections
        self._notice = notice
        self._postponed: list[Visit] = []  # no file descriptor was left for them
        self._again = 0.0
        self._recovery: asyncio.TimerHandle | None = None
        self._resolving: dict[asyncio.Task[None], Visit] = {}
        self._faults: list[Outcome] = []
        self._broken: list[Visit] = []  # by the fence, and not yet handed back
        self._spent = 0.0
        self.rested = 0.0  # seconds that there was nothing to do but wait
        self._looked = 0.0  # when the last turn ended
        self._begun = 0  # visits since then
        self._took = 0.0  # seconds that answers take, about
        self._gathering = False  # answers are waited for, and none is worth a look by itself
        self._request_tail = (
            f"\r\nUser-Agent: {user_agent}\r\n" + "".join(f"{line}\r\n" for line in HEADERS) + "\r\n"
        ).encode()

    @property
    def in_flight(self) -> int:
        others = len(self._faults) + len(self._postponed) + len(self._broken) + len(self._put_off)
        return len(self._busy) + len(self._resolving) + others

    @property
    def connections(self) -> int:
        """How many there may be at a time now."""
        return self._connections

    @property
    def room(self) -> int:
        """How many more visits may be started now."""
        if self._fence is not None and not self._fence.is_open():
            return 0
        return min(self._connections - self.in_flight, _AT_ONCE)

    def change(self, connections: int, hosts: tuple[HostRule, ...]) -> None:
        """Other limits and other settings of hosts from now on."""
        self._most = connections
        self._limit_connections(connections)
        self._accesses = self._accesses.changed(hosts)
        # Handles that were once told of a host's own settings must be told of the usual ones too.
        self._usual = self._usual and self._accesses.usual

    def adjust(self, connections: int) -> None:
        """Let there be so many connections, or fewer where file descriptors are short."""
        short = self._connections < self._most
        self._most = connections
        self._limit_connections(min(self._connections, connections) if short else connections)

    def fence(self, allowed: Callable[[], bool]) -> None:
        """Speak to servers only while this says yes; for an agent with a lease, before its first visit.

        It is asked before anything may be sent. When it says no, all visits are broken off and all connections reset,
        idle ones too; `broken_off` hands the visits back. When it says yes again, visits may be started again.
        """
        assert not self._busy
        assert not self._free
        self._fence = Fence(allowed, self._opened)

    def start(self, visit: Visit) -> None:
        self._begun += 1
        if self._fence is not None and self._is_over():
            self._broken.append(visit)
            return
        now = self._clock()
        if (
            compiled is not None
            and self._usual
            and compiled.start(visit, self._routes.by_host, now, self._free, self._busy, self._multi)
        ):
            return
        host = host_of(visit.url) if visit.robots else visit.host  # robots.txt may be redirected to another host
        if not self._usual and self._accesses.of(host).proxy:
            self._start_through_proxy(visit, host)
            return
        route = self._routes.known(host, now)
        if route is None:
            self._in_background(visit, self._resolve_and_start(visit, host))
        else:
            self._begin(visit, route, now)

    def spent(self) -> float:
        """Seconds spent on responses, waiting apart, since this was last asked."""
        spent, self._spent = self._spent, 0.0
        return spent

    def own_address(self, host: str, page: Page) -> str:
        """Where a host is; nothing when a --connect rule says where to go instead."""
        route = self._routes.by_host.get(host)
        return "" if route is not None and route.is_rule else page.address

    async def wait(self, seconds: float) -> list[Outcome]:
        """Outcomes as soon as there are any, or some more a moment later; or none after this time."""
        done = self._collect()
        if seconds > 0 and not self._broken:
            if max(len(done), self._begun) < _AT_ONCE and (rest := self._rest_of_turn()) >= _SHORTEST_REST:
                await self._gather(rest)
                done += self._collect(_AT_ONCE - len(done))
            if not done and not self._broken:
                await self._sleep(seconds)
                done = self._collect()
        self._looked, self._begun = perf_counter(), 0
        if done and isinstance(answer := done[0][1], Page):
            self._took += (answer.seconds - self._took) * _LEARNING
        return done

    def _rest_of_turn(self) -> float:
        """Seconds until a look at all that are in flight is worth it."""
        apart = turns_apart(len(self._busy), self._took)
        return self._looked + apart - perf_counter() if apart else 0.0

    def wake(self) -> None:
        """End a `wait` early."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def abort(self, which: Callable[[Visit], bool] = lambda visit: True) -> list[Visit]:
        """Drop those in flight that are meant; gives them."""
        if self._fence is not None:
            self._is_over()  # or libcurl would take leave of servers
        return self._drop(which)

    def broken_off(self) -> list[Visit]:
        """Visits that the fence ended since this was asked: to be taken after each `wait`, which ends for them."""
        broken, self._broken = self._broken, []
        return broken

    def put_off(self) -> list[Visit]:
        """Visits that may not be made now, and of which no server knows: to be taken after each `wait`."""
        if not self._put_off:
            return []
        visits, self._put_off = self._put_off, []
        return visits

    def address_of(self, host: str) -> str:
        """Return the address at which a host was found last, or its own; empty if that is not known, or a rule's."""
        route = self._routes.by_host.get(host)
        if route is not None:
            return route.address or ("" if route.is_rule else literal(split_host(host)[0]) or "")
        name = split_host(host)[0]
        return "" if self._resolver.redirect(host) is not None else literal(name) or ""

    def reset(self) -> list[Visit]:
        """Drop all in flight and close every connection at once, idle ones too; gives the visits."""
        self._break_off()
        return self.broken_off()

    async def close(self) -> None:
        if self._fence is not None:
            self._fence.shut()
        self._drop(lambda visit: True)
        if self._recovery is not None:
            self._recovery.cancel()
        for transfer in self._free:
            transfer.curl.close()
        self._multi.close()
        if self._fence is not None:
            self._fence.close()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        await self._resolver.close()

    # -- breaking off ------------------------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        """Whether nothing may be sent now; then nothing is in flight any more."""
        if self._fence is None or self._fence.is_open():
            return False
        self._break_off()
        return True

    def _break_off(self) -> None:
        fence = self._fence
        if fence is not None:
            fence.shut()
        self._broken = self._drop(lambda visit: True)
        if fence is None or fence.connected:
            # libcurl forgets its connections with the handle only.
            self._multi.close()
            self._multi = self._new_multi()
            self._limit_connections(self._connections)
        if fence is not None:
            fence.reopen()
        self.wake()

    def _drop(self, which: Callable[[Visit], bool]) -> list[Visit]:
        dropped = [visit for visit, _ in self._faults if which(visit)]
        self._faults = [outcome for outcome in self._faults if not which(outcome[0])]
        for task, visit in list(self._resolving.items()):
            if which(visit):
                dropped.append(visit)
                task.cancel()
                del self._resolving[task]
        for curl, transfer in list(self._busy.items()):
            assert transfer.visit is not None
            if which(transfer.visit):
                dropped.append(transfer.visit)
                if transfer.route.several:
                    transfer.route.over(transfer.visit.url)
                self._multi.remove_handle(curl)
                del self._busy[curl]
        dropped += filter(which, self._postponed)
        self._postponed = [visit for visit in self._postponed if not which(visit)]
        for waiting in (self._broken, self._put_off):
            dropped += filter(which, waiting)
            waiting[:] = [visit for visit in waiting if not which(visit)]
        return dropped

    def _new_multi(self) -> pycurl.CurlMulti:
        multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_MAXCONNECTS, self._kept)
        multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        return multi

    # -- starting ----------------------------------------------------------------------------------------------------

    async def _resolve_and_start(self, visit: Visit, host: str) -> None:
        name = split_host(host)[0]
        answer = await self._answer(visit, name)
        if answer is None:
            return
        now = self._clock()
        route = self._routes.known(host, now, answer)
        if route is None:
            fault = Fault(Reason.DNS, True, f"{name} {answer.why}", now, lasting=answer.lasting)
            self._faults.append((visit, fault))
        else:
            self._begin(visit, route, now)
        self.wake()

    def _in_background(self, visit: Visit, starting: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(starting)
        self._resolving[task] = visit
        task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        """One that was not, by a mistake of ours, is a fault: what nobody settles would keep the crawl for ever."""
        visit = self._resolving.pop(task, None)
        error = None if task.cancelled() else task.exception()
        if visit is not None and error is not None:
            self._loop.call_exception_handler({"message": f"{visit.url} cannot be started", "exception": error})
            self._faults.append((visit, Fault(Reason.DNS, True, repr(error), self._clock())))
            self.wake()

    async def _answer(self, visit: Visit, name: str) -> Answer | None:
        """None when there was no file descriptor to ask with: the visit is begun again later; or it is broken off."""
        try:
            answer = await self._resolver.resolve(name)
        except ShortageError:
            self._postpone(visit)
            return None
        return None if self._is_over() else answer

    def _begin(self, visit: Visit, route: Route, now: float) -> None:
        if route.refused and (why := route.refusal(visit.url)):
            self._faults.append((visit, Fault(Reason.ADDRESS, False, why, now)))
            return
        if not route.is_used and (not visit.robots or host_of(visit.url) == visit.host):
            route.is_used = True
            if (address := route.address) and not self.may_visit(visit, address):
                self._put_off.append(visit)
                self.wake()
                return
        transfer = self._free.pop() if self._free else self._new_transfer()
        if not self._usual:
            access = self._accesses.of(host_of(visit.url))
            cookie = self._jar.header(visit.url) if access.cookies else ""
            transfer.use(access, "; ".join(filter(None, (access.cookie, cookie))))
        transfer.begin(visit, route, now)
        self._busy[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    # -- through a proxy ---------------------------------------------------------------------------------------------

    def _start_through_proxy(self, visit: Visit, host: str) -> None:
        """The guard sees only the proxy's address then, so the host's is judged before, as far as it can be."""
        access, name = self._accesses.of(host), split_host(host)[0]
        judged = self._guard.narrows(name) or not self._local_names or literal(name) is not None
        if judged or not access.names_go_along:
            self._in_background(visit, self._judge_and_start(visit, host, access))
        else:
            self._begin(visit, self._routes.through_proxy(host), self._clock())

    async def _judge_and_start(self, visit: Visit, host: str, access: Access) -> None:
        name = split_host(host)[0]
        answer = await self._answer(visit, name)
        if answer is None:
            return
        now = self._clock()
        refusal = self._refusal(name, answer, access)
        if refusal is not None:
            reason, detail = refusal
            self._faults.append((visit, Fault(reason, reason is Reason.DNS, detail, now)))
        elif access.names_go_along or literal(name) is not None:
            self._begin(visit, self._routes.through_proxy(host), now)
        else:
            self._begin(visit, self._routes.through_proxy(host, answer), now)
        self.wake()

    def _refusal(self, name: str, answer: Answer, access: Access) -> tuple[Reason, str] | None:
        """Why a name may not be given to a proxy, as far as can be told here (docs/threat-model.md)."""
        if answer.addresses:
            refused = [address for address in answer.addresses if not self._guard.allows(address, name)]
            # Who resolves the name itself may choose any of them.
            if len(refused) < (1 if access.names_go_along else len(answer.addresses)):
                return None
            return Reason.ADDRESS, f"{name} is {refused[0]}, which may not be connected to"
        if not access.names_go_along or self._guard.narrows(name):
            return Reason.DNS, f"{name} does not resolve here, so its address cannot be judged"
        if self._local_names or is_public_name(name):
            return None
        return Reason.ADDRESS, f"{name} is a name of the proxy's own network"

    # -- finishing ---------------------------------------------------------------------------------------------------

    def _collect(self, most: int = _AT_ONCE) -> list[Outcome]:
        fence = self._fence
        if fence is not None and self._is_over():
            return []
        if self._postponed:
            self._take_up()
        done, self._faults = self._faults, []
        if not self._busy:
            return done
        started = perf_counter()
        multi = self._multi
        multi.perform()
        if self._opened:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
        if fence is not None and self._is_over():
            return done
        now = self._clock()
        _, finished, failed = multi.info_read(most)
        done += (
            [self._finish(curl, 0, "", now) for curl in finished]
            if compiled is None
            else compiled.finish(finished, self._busy, multi, self._free, self._request_tail, self._outcome, now)
        )
        for curl, error, detail in failed:
            transfer = self._busy[curl]
            starved, transfer.starved = transfer.starved, False
            outcome = self._finish(curl, error, detail, now)
            if starved:
                self._postpone(outcome[0])
            else:
                done.append(outcome)
        self._spent += perf_counter() - started
        return done

    def _finish(self, curl: pycurl.Curl, error: int, detail: str, now: float) -> Outcome:
        self._multi.remove_handle(curl)
        return self._outcome(self._busy.pop(curl), error, detail, now)

    def _outcome(self, transfer: Transfer, error: int, detail: str, now: float) -> Outcome:
        visit = transfer.visit
        assert visit is not None
        access = transfer.access
        if access is None:
            outcome = transfer.end(error, detail, self._request(visit.url, transfer.asked_with), now)
        else:
            outcome = transfer.end(error, detail, access.request(visit.url, transfer.cookie, transfer.asked_with), now)
            if access.proxy:
                outcome = access.judged(outcome, error, transfer.curl)
            if access.cookies and isinstance(outcome, Page):
                self._jar.take(visit.url, outcome.head)
        if transfer.route.several:
            transfer.route.over(visit.url)
            transfer.route.learn(outcome)
        self._free.append(transfer)
        return visit, outcome

    def _request(self, url: str, asked_with: bytes) -> bytes:
        """The request as libcurl sends it."""
        start = url.index("//") + 2
        cut = url.index("/", start)
        if asked_with:
            tail = b"%b%b\r\n" % (self._request_tail[:-2], asked_with)
            return as_sent(b"GET %b HTTP/1.1\r\nHost: %b%b" % (url[cut:].encode(), url[start:cut].encode(), tail), url)
        return b"GET %b HTTP/1.1\r\nHost: %b%b" % (url[cut:].encode(), url[start:cut].encode(), self._request_tail)

    # -- no file descriptor left -------------------------------------------------------------------------------------

    def _postpone(self, visit: Visit) -> None:
        """Nobody was asked, so nothing is known of the page or its host: it is begun again, and fewer are at a time."""
        self._postponed.append(visit)
        self._again = self._clock() + _SHORT_PAUSE
        self._limit_connections(max(1, min(self._connections, len(self._busy))))
        if self._recovery is None:
            self._notice(
                f"there are no more file descriptors: the crawl goes on with {self._connections:,} of {self._most:,}"
                " connections; raise the limit (`ulimit -n`), or lower --connections"
            )
        else:
            self._recovery.cancel()
        self._recovery = self._loop.call_later(_RECOVERY, self._recover)

    def _take_up(self) -> None:
        if self._clock() < self._again:
            return
        room = max(self._connections - len(self._busy) - len(self._resolving), 0)
        visits, self._postponed = self._postponed[:room], self._postponed[room:]
        for visit in visits:
            self.start(visit)

    def _recover(self) -> None:
        self._limit_connections(min(2 * self._connections, self._most))
        if self._connections < self._most:
            self._recovery = self._loop.call_later(_RECOVERY, self._recover)

    def _limit_connections(self, most: int) -> None:
        self._connections = most
        # libcurl closes idle connections when that is needed to stay within the limit; 0 is none.
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, most if most < self._most else 0)

    # -- waiting -----------------------------------------------------------------------------------------------------

    def _watch(self, connection: socket.socket) -> None:
        if connection.fileno() >= self._highest:
            connection.close()
            raise OSError(errno.EMFILE, "the last file descriptors are for the crawl's own files")
        if self._fence is not None:
            self._fence.prepare(connection)
        # libcurl uses a duplicate, under which the kernel goes on reporting events after ours is closed.
        self._epoll.register(connection.fileno(), _EDGES)
        self._opened.append(connection)

    def _on_events(self) -> None:
        self._epoll.poll(0, 1024)
        if not self._gathering:
            self.wake()

    async def _sleep(self, seconds: float) -> None:
        if self._busy:
            own = self._multi.timeout()
            seconds = min(seconds, _TICK, own / 1000 if own >= 0 else _TICK)
        elif self._fence is not None and self._fence.connected:
            seconds = min(seconds, _TICK)  # idle connections are reset in time, too
        await self._rest(seconds)

    async def _gather(self, seconds: float) -> None:
        """So long, or until somebody calls, whatever comes meanwhile."""
        self._gathering = True
        try:
            await self._rest(seconds)
        finally:
            self._gathering = False

    async def _rest(self, seconds: float) -> None:
        """So long, or until somebody calls."""
        began = perf_counter()
        self._wake = self._loop.create_future()
        timer = self._loop.call_later(max(seconds, 0), self.wake)
        try:
            await self._wake
        finally:
            timer.cancel()
            self._wake = None
            self.rested += perf_counter() - began


def turns_apart(in_flight: int, answer: float) -> float:
    """How many seconds there are between two turns: none where few are in flight, or where they are answered quickly
    (`answer`: in how many seconds).
    """
    apart = min(in_flight * _APART, answer * _OF_AN_ANSWER, _TICK)
    return apart if apart >= _SHORTEST_REST else 0.0


def _highest_descriptor() -> int:
    """File descriptors of connections stay below this."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 31 if limit == resource.RLIM_INFINITY else limit - min(_KEPT_FREE, limit // 4)
