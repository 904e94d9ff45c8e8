#!/bin/sh
# An emulator, another compiler and another processor for the tests that compare builds. Without them, and without the right to install them, those
# tests say why they are skipped.
missing=
command -v clang++ >/dev/null 2>&1 || missing="$missing clang"
command -v qemu-x86_64 >/dev/null 2>&1 || missing="$missing qemu-user"
command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 || missing="$missing g++-aarch64-linux-gnu"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "== cannot install$missing: tests of other builds will be skipped"
  exit 0
fi
echo "== installing$missing for the tests of other builds"
# shellcheck disable=SC2086 — several packages
{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; } >/dev/null 2>&1 ||
  echo "== they could not be installed: tests of other builds will be skipped"
