"""What libcurl is told once, for all requests: manners, limits, whom to trust."""

from __future__ import annotations

import ssl

import pycurl

from gossamer.config import FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch.access import HEADERS, patience

_SUPPRESS_CONNECT_HEADERS = 265  # an option of libcurl that pycurl has no name for


def options_of(config: FetchConfig, user_agent: str) -> dict[int, object]:
    """The same for every handle."""
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROXY: "",
        _SUPPRESS_CONNECT_HEADERS: 1,  # the answer of a proxy is no part of the response
        pycurl.NOPROXY: "",  # or the environment could turn a proxy off, and with it who judges the address
        pycurl.PROXY_CAINFO: certificates(config.ca_file),
        pycurl.USERAGENT: user_agent,
        pycurl.HTTPHEADER: list(HEADERS),
        # Bodies are stored as they came: still chunked, still compressed.
        pycurl.HTTP_TRANSFER_DECODING: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS if config.http2 else pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.PATH_AS_IS: 1,
        pycurl.BUFFERSIZE: 65536,
        pycurl.CONNECTTIMEOUT_MS: int(config.connect_timeout * 1000),
        # After each request it looks through all that it keeps. What it is told of a host it keeps all the same (Told).
        pycurl.DNS_CACHE_TIMEOUT: 0,
        pycurl.LOW_SPEED_LIMIT: 1,
        **patience(config),
        # Verified always: there is no option that turns it off.
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.CAINFO: certificates(config.ca_file),
    }


def certificates(path: str) -> str:
    """The file of root certificates to trust: the one given, the system's, or our own."""
    if not path:
        return ssl.get_default_verify_paths().cafile or _own_certificates()
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise ConfigError(
            f"fetch.ca_file: {path} is no file of certificates ({error.strerror or error}). "
            "Name a file in PEM format, or leave the option empty to trust the system's."
        ) from error
    return path


def _own_certificates() -> str:
    """For systems that have no bundle of root certificates, or not where OpenSSL looks for it."""
    import certifi

    return certifi.where()
