#!/bin/sh
# ThreadSanitizer: the threaded kernels without Python, then an index that several threads use at once, in a build and an environment of their own.
# KERNELS_ONLY=1 leaves out the second.
set -eu
cd "$(dirname "$0")/.."
home=build/tsan
mkdir -p $home
compiler=$(command -v c++ || command -v g++)
runtime=$($compiler -print-file-name=libtsan.so)
[ -e "$runtime" ] || { echo "the runtime of ThreadSanitizer is missing: apt-get install libtsan2, or the one of your compiler"; exit 3; }
# Shadow memory has fixed places, which a random layout of a recent kernel may take.
fixed=""; setarch -R true 2>/dev/null && fixed="setarch -R"
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 suppressions=$PWD/scripts/tsan.suppressions"

echo "== the kernels in threads"
ls native/*/*.cpp | grep -v '/bind/' | xargs -n 1 -P "${JOBS:-2}" sh -c '
  object='$home'/$(echo "${1#native/}" | tr / -).o  # two folders may have a file of the same name
  [ "$object" -nt "$1" ] && [ -z "$(find native -name "*.hpp" -newer "$object")" ] ||
    '"${LAUNCHER:-} $compiler"' -std=c++20 -O1 -g -fsanitize=thread -ffp-contract=off -Inative -c "$1" -o "$object"' sh
$compiler -std=c++20 -O1 -g -fsanitize=thread -Inative -pthread tests/native/threads.cpp $home/*.o -o $home/threads
$fixed $home/threads
[ -z "${KERNELS_ONLY:-}" ] || exit 0

echo "== an index in threads"
python=$home/venv/bin/python
[ -x $python ] || .venv/bin/python -m venv $home/venv
site=$($python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.venv/bin/python -c 'import sys; print(*[path for path in sys.path if path.endswith("-packages")], sep="\n")' > "$site/tools.pth"
$python -m pip install -q --no-build-isolation --no-deps --force-reinstall \
  -Cbuild-dir=$home/native -Ccmake.define.LOOKALIKE_THREAD_SANITIZE=ON -Ccmake.build-type=None .
# The interpreter is not instrumented: its locks are seen, its memory is not.
LD_PRELOAD=$runtime $fixed $python tests/native/threads_of_an_index.py
