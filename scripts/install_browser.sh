#!/bin/sh
# Chromium for the tests that look at pages. Without it, and without the right to install it, those tests say why they are
# skipped.
for name in chromium chromium-browser google-chrome; do
  command -v $name >/dev/null 2>&1 && exit 0
done
if ! command -v apt-get >/dev/null 2>&1; then
  echo "== no Chromium, and no apt-get to install it: the browser tests will be skipped"
  exit 0
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "== no Chromium, and not root: the browser tests will be skipped (apt-get install chromium)"
    exit 0
  fi
  as_root="sudo -n"
fi
echo "== installing Chromium for the browser tests"
{ $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; } >/dev/null 2>&1 ||
  echo "== Chromium could not be installed: the browser tests will be skipped"
