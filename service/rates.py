"""How often somebody may ask: counted in Redis by whoever serves them, so that it holds for all API programs.

A count stands for one window of time and is forgotten with it. Without Redis nobody is refused: to be asked
too often is a lesser harm than to answer nobody.
"""

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

import redis
import structlog

from service.settings import Settings

log = structlog.get_logger(__name__)
PATIENCE = 0.25  # seconds for Redis to answer
AWAY = 5.0  # seconds before an absent Redis is asked again
NETWORK = 64  # bits: what one household or host has of IPv6


class Rates:
    """Counts by name, in windows of some seconds."""

    def __init__(self, client: "redis.Redis", clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._clock = clock
        self._ask_again = 0.0

    @classmethod
    def of(cls, settings: Settings) -> "Rates":
        """Counts in the settings' Redis; nothing is connected yet."""
        wait = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
        return cls(redis.Redis.from_url(settings.client_url, **wait, retry=None))

    def take(self, name: str, most: int, seconds: int) -> int:
        """One more; 0 if that is at most `most` in this window, else the seconds until the next."""
        now = self._clock()
        if now < self._ask_again:
            return 0
        window, passed = divmod(now, seconds)
        try:
            count = self._count(f"rage:rate:{name}:{seconds}:{window:.0f}", seconds)
        except (redis.RedisError, OSError) as error:
            self._ask_again = now + AWAY
            log.warning("rates_not_counted", error=str(error))
            return 0
        return 0 if count <= most else int(seconds - passed) + 1

    def _count(self, key: str, seconds: int) -> int:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.incr(key)
            pipe.expire(key, seconds)
            return int(pipe.execute()[0])


def place(address: str | None) -> str:
    """Whom an address stands for: itself, or its network where everybody has many."""
    try:
        known = ip_address(address or "")
    except ValueError:
        return "unknown"
    if not isinstance(known, IPv6Address):
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped or ip_network((known, NETWORK), strict=False).network_address)
