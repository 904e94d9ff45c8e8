#!/bin/sh
# The kernels' tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a build of their own.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
target=build/sanitize/site
echo "== building the kernels with ASan and UBSan"
$python -m pip install -q --no-build-isolation --no-deps --force-reinstall --upgrade --target "$target" \
  -Cbuild-dir=build/sanitize/native -Ccmake.define.LOOKALIKE_SANITIZE=ON -Ccmake.build-type=None .
echo "== running the tests of the kernels"
# The interpreter itself is not instrumented: its runtime must be loaded first, and it keeps memory at exit on purpose.
compiler=$(command -v c++ || command -v g++)
LD_PRELOAD="$($compiler -print-file-name=libasan.so) $($compiler -print-file-name=libubsan.so)" \
  ASAN_OPTIONS=detect_leaks=0:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  PYTHONPATH="$target" LOOKALIKE_SANITIZED=1 \
  $python -m pytest tests/native tests/fingerprints/test_fuzzy.py -p no:cacheprovider -x "$@"
