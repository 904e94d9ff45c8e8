"""Which addresses are public."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.fetching.addresses import why_not_public
from lookalike.fetching.urls import parse_url, redirected

PUBLIC = ["93.184.216.34", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "192.167.255.255", "223.255.255.255",
          "2606:2800:220:1:248:1893:25c8:1946", "2a00::1", "64:ff9b::93.184.216.34", "::ffff:1.1.1.1", "2002:5db8:d822::1"]  # fmt: skip
OTHERS = {
    "0.0.0.0": "unspecified", "10.255.255.255": "private", "100.64.0.1": "shared", "127.0.0.1": "loopback", "127.255.255.254": "loopback",
    "169.254.169.254": "link-local", "172.16.0.1": "private", "172.31.255.255": "private", "192.0.0.8": "reserved", "192.0.2.1": "documentation",
    "192.168.1.1": "private", "198.19.0.1": "benchmarks", "224.0.0.1": "multicast", "239.1.1.1": "multicast", "240.0.0.1": "reserved",
    "255.255.255.255": "reserved", "::": "unspecified", "::1": "loopback", "::ffff:10.0.0.1": "private", "::ffff:0:0": "unspecified",
    "64:ff9b::10.0.0.1": "private", "64:ff9b::7f00:1": "loopback", "64:ff9b:1::1": "reserved", "2002:7f00:1::1": "loopback",
    "2002:a9fe:a9fe::": "link-local", "2001::1": "reserved", "2001:0:5db8:d822::1": "reserved", "2001:db8::1": "documentation", "fc00::1": "private",
    "fdff::1": "private", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "fec0::1": "private", "ff02::1": "multicast", "::7f00:1": "reserved",
    "4000::1": "reserved", "2a00::5efe:7f00:1": "loopback", "2a00::200:5efe:10.0.0.1": "private",
}  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert why_not_public(address) is None


@pytest.mark.parametrize(("address", "reason"), OTHERS.items(), ids=OTHERS)
def test_not_public(address: str, reason: str) -> None:
    assert reason in (why_not_public(address) or "")


@given(st.ip_addresses(v=4))
def test_agrees_with_the_standard_library(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert why_not_public(str(address))


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0", "64:ff9b::"]))
def test_an_address_in_an_address_is_that_address(address: IPv4Address, prefix: str) -> None:
    assert why_not_public(str(IPv6Address(int(ip_address(prefix)) | int(address)))) == why_not_public(str(address))
    assert why_not_public(str(IPv6Address(0x2002 << 112 | int(address) << 80))) == why_not_public(str(address))


@given(st.ip_addresses(v=6))
def test_private_networks_of_the_standard_library(address: IPv6Address) -> None:
    embeds = address.ipv4_mapped or address.sixtofour or address in IPv6Network("64:ff9b::/96")
    if not embeds and (address.is_private or address.is_reserved or address.is_multicast or address.is_link_local):
        assert why_not_public(str(address))


@pytest.mark.parametrize("location", ["http://[::1", "//[", "http://a:1:2/", "http://..é/", "ftp://a/", "http://a:99999/"])
def test_a_redirect_that_leads_nowhere_is_an_input_error(location: str) -> None:
    with pytest.raises(la.InputError):
        redirected(parse_url("http://example.org/a"), location)
