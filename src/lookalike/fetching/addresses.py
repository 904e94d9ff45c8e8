"""Which addresses are public. A page that is fetched for somebody must not show what only this machine or its network can reach.

The lists are our own and not ``ipaddress.is_global``, whose answers differ between releases of Python.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

_NOT_PUBLIC = {
    IPv4Network("0.0.0.0/8"): "unspecified",
    IPv4Network("10.0.0.0/8"): "private",
    IPv4Network("100.64.0.0/10"): "shared by the customers of a carrier",
    IPv4Network("127.0.0.0/8"): "loopback",
    IPv4Network("169.254.0.0/16"): "link-local",
    IPv4Network("172.16.0.0/12"): "private",
    IPv4Network("192.0.0.0/24"): "reserved",
    IPv4Network("192.0.2.0/24"): "reserved for documentation",
    IPv4Network("192.88.99.0/24"): "reserved",
    IPv4Network("192.168.0.0/16"): "private",
    IPv4Network("198.18.0.0/15"): "reserved for benchmarks",
    IPv4Network("198.51.100.0/24"): "reserved for documentation",
    IPv4Network("203.0.113.0/24"): "reserved for documentation",
    IPv4Network("224.0.0.0/4"): "multicast",
    IPv4Network("240.0.0.0/4"): "reserved",
}
_NOT_PUBLIC_6 = {
    IPv6Network("::/128"): "unspecified",
    IPv6Network("::1/128"): "loopback",
    IPv6Network("2001::/23"): "reserved",  # Teredo among them, which hides another address
    IPv6Network("2001:db8::/32"): "reserved for documentation",
    IPv6Network("3fff::/20"): "reserved for documentation",
    IPv6Network("5f00::/16"): "reserved",
    IPv6Network("fc00::/7"): "private",
    IPv6Network("fe80::/10"): "link-local",
    IPv6Network("fec0::/10"): "private",
    IPv6Network("ff00::/8"): "multicast",
}
_GLOBAL_6 = IPv6Network("2000::/3")
# Addresses of IPv6 that lead to one of IPv4, and how many bits follow that one.
_EMBEDDING = {
    IPv6Network("::ffff:0:0/96"): 0,
    IPv6Network("64:ff9b::/96"): 0,  # NAT64
    IPv6Network("2002::/16"): 80,  # 6to4
}


def why_not_public(address: str) -> str | None:
    """What makes an address one that is not for everybody; None for a public one.

    >>> why_not_public("10.0.0.1"), why_not_public("::ffff:127.0.0.1"), why_not_public("93.184.216.34")
    ('private', 'loopback', None)
    """
    found = ip_address(address)
    if isinstance(found, IPv4Address):
        return _reason(found)
    for network, behind in _EMBEDDING.items():
        if found in network:
            return _reason(IPv4Address(int(found) >> behind & 0xFFFFFFFF))
    reason = next((reason for network, reason in _NOT_PUBLIC_6.items() if found in network), None)
    if reason is None and found not in _GLOBAL_6:
        return "reserved"
    # ISATAP: an address of IPv4 behind 0:5efe, in any network.
    if reason is None and int(found) >> 32 & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE):
        return _reason(IPv4Address(int(found) & 0xFFFFFFFF))
    return reason


def _reason(address: IPv4Address) -> str | None:
    return next((reason for network, reason in _NOT_PUBLIC.items() if address in network), None)
