// What became of a token sequence: runs are equal on both sides, in order where they must be, and no token is in two of them.
#include <algorithm>

#include "fuzz.hpp"
#include "sketch/winnow.hpp"
#include "text/align.hpp"

using namespace lookalike;

namespace {

using Tokens = std::vector<std::uint64_t>;

void check_equal(const Tokens& left, const Tokens& right, const SharedRun& run) {
    REQUIRE(run.length > 0 && std::uint64_t{run.left} + run.length <= left.size() && std::uint64_t{run.right} + run.length <= right.size());
    REQUIRE(std::equal(left.begin() + run.left, left.begin() + run.left + run.length, right.begin() + run.right));
}

void take(std::vector<bool>& used, std::uint32_t first, std::uint32_t length) {
    for (std::size_t i = first; i < std::size_t{first} + length; ++i) {
        REQUIRE(!used[i]);
        used[i] = true;
    }
}

Anchors anchors(const Tokens& tokens, std::size_t window, std::vector<std::uint32_t>& positions, Tokens& values) {
    winnow(tokens, window, positions);
    for (const std::uint32_t position : positions) values.push_back(tokens[position]);
    return {tokens, values, positions};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    Tokens left, right;
    for (const std::uint8_t byte : feed.ConsumeBytes<std::uint8_t>(fuzz::number(feed, 0, 400))) left.push_back(byte % 64);
    // The other side: pieces of this one, and anything.
    for (std::size_t pieces = fuzz::number(feed, 0, 8); pieces > 0; --pieces) {
        const std::size_t first = fuzz::number(feed, 0, left.size()), length = fuzz::number(feed, 0, left.size() - first);
        right.insert(right.end(), left.begin() + static_cast<std::ptrdiff_t>(first), left.begin() + static_cast<std::ptrdiff_t>(first + length));
        for (const std::uint8_t byte : feed.ConsumeBytes<std::uint8_t>(fuzz::number(feed, 0, 12))) right.push_back(byte);
    }
    const unsigned shortest = static_cast<unsigned>(fuzz::number(feed, 1, 12));

    std::vector<bool> used_left(left.size()), used_right(right.size());
    const std::vector<SharedRun> kept = align(left, right);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        check_equal(left, right, kept[i]);
        take(used_left, kept[i].left, kept[i].length);
        take(used_right, kept[i].right, kept[i].length);
        REQUIRE(i == 0 || (kept[i - 1].left < kept[i].left && kept[i - 1].right < kept[i].right));
    }
    if (left == right && !left.empty()) REQUIRE(kept.size() == 1 && kept[0].length == left.size());
    for (const SharedRun& run : moved_runs(left, right, kept, shortest)) {
        check_equal(left, right, run);
        REQUIRE(run.length >= shortest);
        take(used_left, run.left, run.length);
        take(used_right, run.right, run.length);
    }

    const std::size_t window = fuzz::number(feed, 1, 8);
    std::vector<std::uint32_t> left_positions, right_positions;
    Tokens left_values, right_values;
    const Anchors left_anchors = anchors(left, window, left_positions, left_values), right_anchors = anchors(right, window, right_positions, right_values);
    std::uint32_t before = 0;
    for (const SharedRun& run : shared_runs(left_anchors, right_anchors, 1)) {
        check_equal(left, right, run);
        REQUIRE(before <= run.left);
        before = run.left;
    }
    return 0;
}
