// Two pages by their tags: equal tags get equal numbers, tags are paired, pairs are scored.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "pages/page_tree.hpp"
#include "pages/tag_alignment.hpp"
#include "pages/tag_strings.hpp"

namespace lookalike {

struct MatchLimits {
    std::size_t max_cells;      // of one table of pairs; beyond, tags are paired in order
    std::size_t anchored_from;  // cells: in larger tables equal runs are paired first, if they make up half of a page
    std::uint64_t max_string_cells;
};

struct MatchWeights {
    TagWeights tags;
    double keys;  // of the keys in the attributes; the values have the rest
};

struct Matched {
    std::vector<TagPair> pairs;
    std::vector<double> similarities;
    bool too_large = false;  // some stretch was paired in order
};

// Two numbers as one key.
constexpr std::uint64_t both(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

// The heads or the bodies of two pages. What was computed once is remembered: pages repeat themselves.
class TagMatcher {
   public:
    TagMatcher(const PageTree& left, const PageTree& right, bool body, const MatchWeights& weights, const MatchLimits& limits);

    Matched in_order();
    Matched best();
    bool is_above_order(const Matched& found) const;  // whether it certainly scores more than the pairing in order does

   private:
    struct Distinct {
        std::uint32_t name, string, attributes, attribute_count;
    };
    struct Stretch {
        std::size_t left, left_end, right, right_end;
    };

    std::string_view string(std::uint32_t number) const;
    void number_strings();
    std::vector<std::uint32_t> number_tags(const PageTree& tree, const std::vector<std::uint32_t>& part, bool is_right);
    std::vector<Stretch> stretches(std::size_t start, std::size_t end) const;
    std::size_t shared_at_most(std::size_t start, std::size_t end) const;
    void align(const Stretch& stretch, std::vector<TagPair>& pairs);
    void sign(std::uint32_t number);
    void score(Matched& matched);
    double at_most(std::uint32_t left, std::uint32_t right) const;
    double of_tags(std::uint32_t left, std::uint32_t right);
    double of_attributes(const Distinct& left, const Distinct& right);
    double of_strings(std::uint32_t left, std::uint32_t right);

    const PageTree &left_tree_, &right_tree_;
    MatchWeights weights_;
    MatchLimits limits_;
    StringRatio ratio_;
    std::vector<std::uint32_t> joint_, only_right_;  // strings of the right page: their number in both, and those only it has
    std::vector<Distinct> distinct_;
    std::vector<PageTree::Attribute> attributes_;  // of the distinct tags, ascending by key
    std::vector<std::uint32_t> slots_;             // numbers of distinct tags, by hash; at most half full
    std::vector<std::uint32_t> left_, right_;
    TagTable table_;
    std::vector<bool> is_signed_;
    std::unordered_map<std::uint64_t, double> known_tags_, known_strings_;
};

}  // namespace lookalike
