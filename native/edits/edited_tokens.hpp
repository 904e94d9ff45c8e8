// What became of the tokens of a text: kept, moved, reworded and deleted on the left, inserted on the right.
//
// What is left of a gap between two kept runs was replaced if both sides have text there. It was reworded if the sentence around it is
// still recognisable; otherwise one text was deleted and another one inserted. A sentence, here, is what lies between two kept tokens with
// which lines or sentences begin. Whether words became similar words is not for this kernel to say: it names the sentences of which that
// decides. tests/reference_edits.py is the slow version.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "edits/moves.hpp"

namespace lookalike {

enum class EditKind : std::uint8_t { kept, moved, reworded, deleted, inserted };
inline constexpr std::size_t kEditKinds = 5;

struct EditSegment {
    EditKind kind;
    bool has_partner;
    Stretch tokens, partner;
};

// A sentence that is recognisable only if enough of its replaced words are similar.
struct DoubtfulSentence {
    std::uint64_t same, longer;  // characters that were kept, and those that were not, of the side that has more of them
    std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> replaced;  // tokens of each gap, on both sides
};

class EditedTokens {
   public:
    EditedTokens(const TokenSide& a, const TokenSide& b);

    const std::vector<DoubtfulSentence>& doubtful() const { return doubtful_; }
    // Of both sides, in order, where of the doubtful sentences these are recognisable.
    std::pair<std::vector<EditSegment>, std::vector<EditSegment>> segments(const std::vector<bool>& recognisable) const;

   private:
    struct Gap {
        std::vector<Stretch> left, right;  // without what was moved
        std::int64_t sentence;             // -1: it is recognisable; -2: it is not; else which of the doubtful ones
    };

    void find_gaps(const TokenSide& a, const TokenSide& b);
    void judge_sentences(const TokenSide& a, const TokenSide& b);
    void judge(std::size_t first, std::size_t last, std::uint64_t same, const TokenSide& a, const TokenSide& b);

    SharedTokens shared_;
    std::vector<Gap> gaps_;
    std::vector<DoubtfulSentence> doubtful_;
};

}  // namespace lookalike
