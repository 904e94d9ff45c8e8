// Pages as a parser writes them, or as somebody does who is none: trees hold together, the outline has the tree's paths, and two trees can
// be matched.
#include <algorithm>

#include "fuzz.hpp"
#include "pages/page_markup.hpp"
#include "pages/page_outline.hpp"
#include "pages/tag_matching.hpp"

using namespace lookalike;

namespace {

void check_tree(const PageTree& tree, std::size_t most) {
    REQUIRE(tree.tags.size() <= most);
    std::size_t attributes = 0;
    for (std::size_t i = 0; i < tree.tags.size(); ++i) {
        const PageTree::Tag& tag = tree.tags[i];
        REQUIRE(tag.name < tree.strings.size() && (tag.string == PageTree::kNone || tag.string < tree.strings.size()));
        REQUIRE(tag.parent == PageTree::kNone ? tag.depth == 0 : tag.parent < i && tree.tags[tag.parent].depth + 1 == tag.depth);
        REQUIRE(tag.name == tree.text_name || tag.depth <= tree.depth);
        REQUIRE(tag.attributes == attributes && (tag.name != tree.text_name || !tag.attribute_count || tree.strings[tag.name] == "#text"));
        attributes += tag.attribute_count;
    }
    REQUIRE(attributes == tree.attributes.size());
    for (const PageTree::Attribute& attribute : tree.attributes) REQUIRE(attribute.key < tree.strings.size() && attribute.value < tree.strings.size());
    for (const auto* part : {&tree.head, &tree.body}) {
        REQUIRE(std::ranges::is_sorted(*part));
        for (const std::uint32_t place : *part) REQUIRE(place < tree.tags.size() && tree.tags[place].depth > 1);
    }
}

void check_match(const PageTree& left, const PageTree& right, bool body) {
    TagMatcher matcher(left, right, body, {{0.5, 0.3, 0.2}, 0.5}, {1 << 12, 64, 1 << 12});
    const auto& left_part = body ? left.body : left.head;
    const auto& right_part = body ? right.body : right.head;
    for (const Matched& matched : {matcher.best(), matcher.in_order()}) {
        REQUIRE(matched.pairs.size() == matched.similarities.size());
        for (std::size_t i = 0; i < matched.pairs.size(); ++i) {
            const auto [a, b] = matched.pairs[i];
            REQUIRE(a < left_part.size() && b < right_part.size());
            REQUIRE(i == 0 || (matched.pairs[i - 1].first < a && matched.pairs[i - 1].second < b));
            REQUIRE(matched.similarities[i] >= 0 && matched.similarities[i] <= 1 + 1e-9);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string whole(reinterpret_cast<const char*>(data), size);
    // Two pages, apart by a byte that no UTF-8 has.
    const std::size_t middle = std::min(whole.find('\xFF'), whole.size());
    const std::string first = whole.substr(0, middle), second = whole.substr(std::min(middle + 1, whole.size()));
    constexpr std::size_t kMost = 400;
    const std::optional<PageTree> left = read_markup(first, kMost), right = read_markup(second, kMost);
    const std::optional<PageOutline> outline = read_outline(first, "script style nav", "script style");
    if (left) check_tree(*left, kMost);
    // A tag may be called "#text", which a parser never writes; then paths of texts are not told from it.
    if (left && !left->is_cut && first.find("#text") == std::string::npos) {
        REQUIRE(outline);
        REQUIRE(outline->paths == path_hashes(*left));
    }
    if (!left || !right) return 0;
    check_tree(*right, kMost);
    check_match(*left, *right, true);
    check_match(*left, *right, false);
    return 0;
}
