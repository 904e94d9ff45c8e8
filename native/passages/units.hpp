// What passages are made of: the tokens of a text, its characters, or its sentences; as secret hashes, which are equal for equal units.
#pragma once

#include <span>
#include <vector>

#include "base/secret.hpp"
#include "text/text_source.hpp"

namespace lookalike {

struct UnitOptions {
    Mode mode;
    bool fold;
    bool sentences;  // otherwise tokens, which are characters in the mode of that name
};

// Takes apart one text after the other, re-using its buffers. Not for use by two threads at once.
class UnitReader {
   public:
    UnitReader(const UnitOptions& options, const Secret& secret)
        : options_(options), secret_(secret), shingler_({options.mode, options.fold, 1, {}}, secret, false) {}

    // Appends the hashes of the units. Of a sentence it is that of its tokens; one without tokens is none.
    void append_hashes(std::span<const std::uint8_t> utf8, std::vector<std::uint64_t>& hashes);

    // Where the same units begin and end, in code points.
    void find_spans(std::span<const std::uint8_t> utf8, std::vector<std::uint32_t>& begins, std::vector<std::uint32_t>& ends);

   private:
    void append_tokens(std::span<const std::uint8_t> utf8, std::vector<std::uint64_t>& hashes);
    bool has_tokens(std::span<const std::uint8_t> utf8);

    UnitOptions options_;
    Secret secret_;
    SecretShingler shingler_;  // of one token: its shingles are the hashes of the tokens
    Folder folder_;
    std::vector<std::uint64_t> tokens_;
};

}  // namespace lookalike
