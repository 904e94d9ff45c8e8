// What a text shares with others, from their characters to passages: everything between is done here, in one go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sketch/winnow.hpp"
#include "text/text_source.hpp"

namespace lookalike {

// Places in a text, counted in code points: where something begins, and where it ends.
using TextSpan = std::pair<std::uint32_t, std::uint32_t>;

// The characters of the tokens that begin within spans, which come in order of their starts, and those of all tokens.
template <class SpanAt>
std::pair<std::uint64_t, std::uint64_t> covered_characters(std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends, std::size_t spans,
                                                           SpanAt&& span_at) {
    std::uint64_t inside = 0, all = 0, reach = 0;  // reach: what begins before it is inside
    std::size_t next = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::uint64_t start = starts[i], size = std::uint64_t{ends[i]} - start;
        for (; next < spans && span_at(next).first <= start; ++next) reach = std::max<std::uint64_t>(reach, span_at(next).second);
        all += size;
        if (start < reach) inside += size;
    }
    return {inside, all};
}

// The tokens of a text, as secret hashes of this process, and the shingles that winnowing keeps of it.
struct WinnowedText {
    std::vector<std::uint64_t> tokens;
    std::vector<std::uint32_t> starts, ends;  // of the tokens
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> positions;

    WinnowedText(const TextOptions& options, std::span<const std::uint8_t> utf8, std::size_t window);
    Anchors anchors() const { return {tokens, values, positions}; }
};

struct SharedText {
    std::vector<std::pair<TextSpan, TextSpan>> passages;  // in order of their place on the left
    double left, right;                                   // how much of each side lies in them; a side without tokens does
};

SharedText shared_text(const WinnowedText& left, const WinnowedText& right, unsigned ngram);

// Of texts whose passages are known up to some tokens at their ends: how much of this one lies in spans of it, and how much at most.
class ShareBounds {
   public:
    // `further`: that many tokens more at each end. What is `skipped` may be shared too.
    ShareBounds(const WinnowedText& text, std::span<const TextSpan> skipped, std::size_t further);
    std::pair<double, double> of(std::span<const TextSpan> spans);

   private:
    double share(std::span<const TextSpan> spans, std::span<const TextSpan> more, std::size_t further);

    const WinnowedText& text_;
    std::span<const TextSpan> skipped_;
    std::size_t further_;
    std::vector<std::uint64_t> before_;                          // characters of the tokens before each
    std::vector<std::pair<std::int64_t, std::int64_t>> places_;  // of one answer
};

}  // namespace lookalike
