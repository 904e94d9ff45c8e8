// One of two texts whose edits are looked for: its tokens, how long they are, and what begins with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sketch/winnow.hpp"
#include "text/token_traits.hpp"

namespace lookalike {

// First token, token after the last.
struct Stretch {
    std::uint32_t first, last;
    auto operator<=>(const Stretch&) const = default;
};

class TokenSide {
   public:
    // `starts` and `ends` are the spans of the tokens; `traits` has one more, for the end of the text. A line begins with the first token,
    // and with the end.
    TokenSide(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends,
              std::span<const std::uint8_t> traits)
        : hashes_(hashes), traits_(traits), sizes_(hashes.size()), before_(hashes.size() + 1) {
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            sizes_[i] = ends[i] - starts[i];
            before_[i + 1] = before_[i] + sizes_[i];
        }
        for (std::uint32_t i = 0; i < traits.size(); ++i) {
            if (begins(i)) beginnings_.push_back(i);
            if (is_edge(i)) edges_.push_back(i);
        }
    }

    std::span<const std::uint64_t> hashes() const { return hashes_; }
    std::span<const std::uint32_t> sizes() const { return sizes_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(hashes_.size()); }
    std::uint64_t characters(std::size_t first, std::size_t last) const { return before_[last] - before_[first]; }
    std::uint64_t characters(const Stretch& stretch) const { return characters(stretch.first, stretch.last); }

    // 2 or more if a line begins with the token, 1 if a sentence does, else 0.
    unsigned begins(std::size_t token) const { return traits_[token] & (kLine | kSentence); }
    bool begins_line(std::size_t token) const { return traits_[token] & kLine; }
    // Whether a token stands between clauses or list items: a mark or a conjunction.
    bool separates(std::size_t token) const { return traits_[token] & kSeparator; }
    bool is_article(std::size_t token) const { return traits_[token] & kArticle; }
    // Whether a clause or a list item can begin with a token, or end before it.
    bool is_edge(std::size_t token) const { return traits_[token] & (kLine | kSeparator | kBehindSeparator); }
    // The tokens of which this holds, and the end of the text.
    const std::vector<std::uint32_t>& beginnings() const { return beginnings_; }
    const std::vector<std::uint32_t>& edges() const { return edges_; }

    // Some tokens, to look them up by.
    std::string_view key(std::size_t first, std::size_t last) const {
        return {reinterpret_cast<const char*>(hashes_.data() + first), (last - first) * sizeof(std::uint64_t)};
    }

   private:
    std::span<const std::uint64_t> hashes_;
    std::span<const std::uint8_t> traits_;
    std::vector<std::uint32_t> sizes_;   // characters of each token
    std::vector<std::uint64_t> before_;  // characters before each token
    std::vector<std::uint32_t> beginnings_, edges_;
};

inline std::uint32_t left_end(const SharedRun& run) { return run.left + run.length; }
inline std::uint32_t right_end(const SharedRun& run) { return run.right + run.length; }
inline bool precedes(const SharedRun& a, const SharedRun& b) {
    return a.left != b.left ? a.left < b.left : a.right != b.right ? a.right < b.right : a.length < b.length;
}

// What lies before, between and after runs in order, on both sides.
struct GapPair {
    Stretch left, right;
};
std::vector<GapPair> gaps(std::span<const SharedRun> runs, const TokenSide& a, const TokenSide& b);

// Sorted; runs that follow each other without a gap on both sides are one.
std::vector<SharedRun> joined(std::vector<SharedRun> runs);

}  // namespace lookalike
