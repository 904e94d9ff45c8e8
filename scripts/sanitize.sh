#!/bin/sh
# The kernels' tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a build and an environment of their own.
set -eu
cd "$(dirname "$0")/.."
home=build/sanitize
python=$home/venv/bin/python
echo "== building the kernels with ASan and UBSan"
[ -x $python ] || .venv/bin/python -m venv $home/venv
# Test tools come from .venv by path alone: its own, uninstrumented lookalike is found later, and its hooks do not run.
site=$($python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.venv/bin/python -c 'import sys; print(*[path for path in sys.path if path.endswith("-packages")], sep="\n")' > "$site/tools.pth"
$python -m pip install -q --no-build-isolation --no-deps --force-reinstall \
  -Cbuild-dir=$home/native -Ccmake.define.LOOKALIKE_SANITIZE=ON -Ccmake.build-type=None .
echo "== running the tests of the kernels"
# The interpreter is not instrumented: the runtimes must be loaded first, and Python keeps memory at exit on purpose. Tests of other builds are left out:
# an emulator has no room for the shadow memory. So is one that looks at addresses: freed memory is not given out again soon here.
compiler=$(command -v c++ || command -v g++)
LD_PRELOAD="$($compiler -print-file-name=libasan.so) $($compiler -print-file-name=libubsan.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  $python -m pytest -p no:cacheprovider -x --ignore=tests/native/test_builds.py \
  --deselect tests/native/test_views.py::test_memory_is_used_again_when_nobody_looks_at_it tests/native tests/fingerprints tests/comparison/test_edits.py tests/segments tests/deduping/test_dedupe_kernels.py tests/deduping/test_rows_again.py \
  tests/files/test_text_runs.py tests/files/test_xlsx.py tests/stores/test_bulk_rows.py tests/stores/test_direct.py tests/stores/test_native_reading.py tests/stores/test_gathered_writes.py \
  tests/pages/test_tables.py tests/pages/test_tag_matching.py tests/pages/test_tags.py tests/pages/test_prints.py tests/word_mover/test_transport_plan.py "$@"
