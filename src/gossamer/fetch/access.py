"""How a host is spoken to: through which proxy, with what login, headers and cookies.

Secrets go to hosts that match the pattern they were given for, and nowhere else: redirects are visits of their own, and
what is kept of a request says only that they were sent.
"""

from __future__ import annotations

import base64
import fnmatch
from collections.abc import Callable

import pycurl

from gossamer.config import FetchConfig, HostRule, header, without_login
from gossamer.model import Fault, Page, Reason
from gossamer.model.domain import without_port
from gossamer.model.post import body_of

HEADERS = (
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language: *",
    "Accept-Encoding: gzip, deflate, br",
)
FORM_TYPE = b"application/x-www-form-urlencoded"
_WITHHELD = "(withheld)"  # in place of a secret in the stored request
_E_PROXY = 97  # libcurl's CURLE_PROXY, which pycurl has no name for
_UNREACHABLE = frozenset({19, 20, 21, 22, 24})  # CURLPX_REPLY_…: the SOCKS proxy works, but cannot reach the server
_MOST_HOSTS = 100_000


class Access:
    """One way of speaking to hosts; all hosts of a pattern share it.

    Invariant: `request` gives what libcurl sends, but for the values of secrets.
    """

    def __init__(self, proxy: str, rule: HostRule, config: FetchConfig, user_agent: str) -> None:
        user, extra = rule.user, rule.headers
        self.proxy = proxy
        self.proxy_name = without_login(proxy)
        self.names_go_along = not proxy.startswith("socks5://")  # the proxy is told names, and resolves them itself
        self.cookies = config.cookies if rule.cookies is None else rule.cookies
        self.patience = patience(config, rule.timeout)
        self._is_usual = not rule.timeout
        given = dict(map(header, extra))
        if user:
            given["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
        self.cookie = given.pop(next((name for name in given if name.lower() == "cookie"), ""), "")
        replaced = {name.lower() for name in given}
        ours = {name: value for name, value in map(header, HEADERS) if name.lower() not in replaced}
        usual = {name.lower() for name, _ in map(header, HEADERS)}
        self.lines = [f"{name}: {value}" for name, value in (ours | given).items()]
        shown = ours | {name: value if name.lower() in usual else _WITHHELD for name, value in given.items()}
        self._agent = f"User-Agent: {user_agent}\r\n".encode()
        self._tail = "".join(f"{name}: {value}\r\n" for name, value in shown.items()).encode()
        self._absolute = proxy.startswith("http")  # plain http is asked of the proxy itself, with the whole URL
        self._encrypted = proxy.startswith("https")  # the way to it
        self._login = b"Proxy-Authorization: %b\r\n" % _WITHHELD.encode() if "@" in proxy else b""

    @property
    def plain(self) -> bool:
        """Whether there is nothing special about it."""
        return self._is_usual and not (self.proxy or self.cookies or self.cookie) and self.lines == list(HEADERS)

    def request(self, url: str, cookie: str, asked_with: bytes = b"") -> bytes:
        """The request as libcurl sends it, secrets withheld; `asked_with`: lines of conditions, or of a body."""
        start = url.index("//") + 2
        cut = url.index("/", start)
        target, login, proxied = url[cut:], b"", b""
        if self._absolute and url.startswith("http:"):
            target, login, proxied = url, self._login, b"Proxy-Connection: Keep-Alive\r\n"
        sent = b"Cookie: %b\r\n" % _WITHHELD.encode() if cookie else b""
        host = url[start:cut].encode()
        request = b"GET %b HTTP/1.1\r\nHost: %b\r\n%b%b%b%b%b%b\r\n" % (
            target.encode(), host, login, self._agent, proxied, self._tail, sent, asked_with
        )  # fmt: skip
        return as_sent(request, url) if asked_with else request

    def judged(self, outcome: Page | Fault, error: int, curl: pycurl.Curl) -> Page | Fault:
        """The outcome of a visit through a proxy: whose fault it is; and no address, since the host's is not known."""
        if isinstance(outcome, Page):
            if outcome.status == 407 and self._absolute and outcome.url.startswith("http:"):
                return self._fault("asks for another login (407)", outcome.fetched_at)
            outcome.address = ""
            return outcome
        detail, now = outcome.detail, outcome.fetched_at
        if error == pycurl.E_COULDNT_RESOLVE_PROXY:
            return self._fault("does not resolve", now)
        if error == pycurl.E_COULDNT_CONNECT:
            status = curl.getinfo(pycurl.HTTP_CONNECTCODE)
            if status < 500:
                return self._fault(f"answers {status}" if status else f"does not answer: {detail}", now)
            return Fault(Reason.CONNECT, True, f"the proxy {self.proxy_name} answers {status}", now)
        if error == _E_PROXY:
            if curl.getinfo(pycurl.PROXY_ERROR) in _UNREACHABLE:
                return Fault(Reason.CONNECT, True, f"the proxy {self.proxy_name} cannot reach it: {detail}", now)
            return self._fault(f"fails: {detail}", now)
        if outcome.reason is Reason.TLS and self._encrypted and not curl.getinfo(pycurl.HTTP_CONNECTCODE):
            return self._fault(f"cannot be trusted: {detail}", now)
        if error == pycurl.E_OPERATION_TIMEDOUT and not curl.getinfo(pycurl.CONNECT_TIME):
            return self._fault(f"does not answer: {detail}", now)
        return outcome

    def _fault(self, what: str, now: float) -> Fault:
        return Fault(Reason.PROXY, True, f"the proxy {self.proxy_name} {what}", now)


def as_sent(request: bytes, url: str) -> bytes:
    """A request for a URL that is a form's, which stands there whole, as it goes to the server; any other as it is."""
    if "#" not in url:
        return request
    body = body_of(url).encode()
    line, _, rest = request.partition(b" HTTP/1.1\r\n")
    return b"POST %b HTTP/1.1\r\n%b%b" % (line.removeprefix(b"GET ").partition(b"#")[0], rest, body)


class Accesses:
    """Of every host, found once for each. `usual` is whether all hosts are spoken to in the same plain way."""

    def __init__(
        self,
        config: FetchConfig,
        rules: tuple[HostRule, ...],
        user_agent: str,
        sent_elsewhere: Callable[[str], object | None],
    ) -> None:
        """`sent_elsewhere`: a host with a --connect rule, which is connected to without a proxy."""
        self._config, self._user_agent = config, user_agent
        self._sent_elsewhere = sent_elsewhere
        self._rules = [(rule.pattern, _pair(config, rule, user_agent)) for rule in rules]
        self._general = _pair(config, HostRule(""), user_agent)
        self.usual = all(access.plain for access, _ in (self._general, *(pair for _, pair in self._rules)))
        self._known: dict[str, Access] = {}

    def changed(self, rules: tuple[HostRule, ...]) -> Accesses:
        """The same with other rules."""
        return Accesses(self._config, rules, self._user_agent, self._sent_elsewhere)

    def of(self, host: str) -> Access:
        access = self._known.get(host)
        if access is None:
            if len(self._known) > _MOST_HOSTS:
                self._known.clear()
            access = self._known[host] = self._find(host)
        return access

    def _find(self, host: str) -> Access:
        name = without_port(host)
        proxied, direct = next(
            (
                pair
                for pattern, pair in self._rules
                if fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(host, pattern)
            ),
            self._general,
        )
        return direct if self._sent_elsewhere(host) is not None else proxied

    def resolved_elsewhere(self, host: str) -> bool:
        """Whether the name goes to a proxy, which may know more names than are known here."""
        access = self.of(host)
        return bool(access.proxy) and access.names_go_along


def _pair(config: FetchConfig, rule: HostRule, user_agent: str) -> tuple[Access, Access]:
    """As the rule says, and the same without a proxy."""
    proxy = config.proxy if rule.proxy is None else rule.proxy
    through = Access(proxy, rule, config, user_agent)
    return through, Access("", rule, config, user_agent) if proxy else through


def patience(config: FetchConfig, timeout: float = 0.0) -> dict[int, int]:
    """How long libcurl waits for a response; `timeout`: for those of some hosts, 0: as for all."""
    return {
        pycurl.TIMEOUT_MS: int((timeout or config.timeout) * 1000),
        pycurl.LOW_SPEED_TIME: max(1, int(max(timeout, config.low_speed_time))),
    }
