#!/bin/sh
# Builds the harnesses and lets each run for TIME seconds (60), two at a time or as many as JOBS says. A finding stays in build/fuzz/findings.
#   sh fuzz/run.sh [HARNESS[:SECONDS] …]
# OPTIONS are the fuzzer's own: OPTIONS=-entropic=0 for more executions in a long run.
set -eu
cd "$(dirname "$0")"
time=${TIME:-60}
jobs=${JOBS:-2}
out=../build/fuzz
set -- "${@:-}"
# A short memory of freed blocks and of who asked for them: it is used again while it is warm. A finding, run again without this, tells all.
export ASAN_OPTIONS="quarantine_size_mb=8:malloc_context_size=3:${ASAN_OPTIONS:-}"
run_one() {  # a harness, and seconds
  found=$out/corpus/$1
  mkdir -p "$found"
  seeds=seeds/$1; [ -d "$seeds" ] || seeds=
  words=dictionaries/$1; [ -f "$words" ] && words=-dict=$words || words=
  # shellcheck disable=SC2086 — no seeds and no dictionary are no arguments
  if $out/fuzz_"$1" -max_total_time="$2" -max_len=4096 -timeout=60 -rss_limit_mb=3000 -print_final_stats=1 $words ${OPTIONS:-} \
    -artifact_prefix=$out/findings/"$1"- "$found" $seeds >$out/"$1".log 2>&1; then
    echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' $out/"$1".log) executions, nothing found"
  else
    echo "$1: FOUND something:"; grep -E 'broken:|ERROR:|runtime error:|Test unit written' $out/"$1".log | head -n 5
    return 1
  fi
}
if [ "${ONE:-}" ]; then
  case $1 in *:*) run_one "${1%:*}" "${1#*:}" ;; *) run_one "$1" "$time" ;; esac
  exit
fi
find_clang() { ls /usr/bin/clang++ /usr/bin/clang++-[0-9]* 2>/dev/null | head -n 1; }
works() { [ -n "$(find_clang)" ] && printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    "$(find_clang)" -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null; }
if ! works; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing clang and its runtime from the packages of the system"
    apt-get update -qq
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    apt-get install -y -qq clang "libclang-rt-${version:-14}-dev" >/dev/null
  fi
  works || { echo "clang with libFuzzer and the sanitizers is missing: apt-get install clang libclang-rt-14-dev (or the version of your clang)"; exit 3; }
fi
make -s -j "$jobs" CXX="$(find_clang)" LAUNCHER="${LAUNCHER:-}"
[ -n "$1" ] || set -- $(make -s names)
mkdir -p $out/findings
echo "== $# harnesses, $time s each or as said, $jobs at a time"
printf '%s\n' "$@" | ONE=1 xargs -n 1 -P "$jobs" sh ./run.sh
