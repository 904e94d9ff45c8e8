#include "pages/tag_matching.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "text/align.hpp"

namespace lookalike {
namespace {

constexpr std::uint32_t kNone = PageTree::kNone;

std::span<const std::uint8_t> bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

}  // namespace

TagMatcher::TagMatcher(const PageTree& left, const PageTree& right, bool body, const MatchWeights& weights, const MatchLimits& limits)
    : left_tree_(left), right_tree_(right), weights_(weights), limits_(limits), ratio_(limits.max_string_cells) {
    number_strings();
    slots_.assign(std::bit_ceil(2 * (left.tags.size() + right.tags.size()) + 1), kNone);
    left_ = number_tags(left, body ? left.body : left.head, false);
    right_ = number_tags(right, body ? right.body : right.head, true);
    is_signed_.resize(distinct_.size());
    table_.attributes.resize(distinct_.size());
    table_.strings.resize(distinct_.size());
    for (const Distinct& tag : distinct_) {
        table_.names.push_back(tag.name);
        table_.flags.push_back(
            static_cast<std::uint8_t>((tag.name == left.text_name ? TagTable::kText : 0) | (tag.string == kNone ? 0 : TagTable::kHasString)));
    }
}

std::string_view TagMatcher::string(std::uint32_t number) const {
    const std::size_t known = left_tree_.strings.size();
    return number < known ? left_tree_.strings[number] : right_tree_.strings[only_right_[number - known]];
}

void TagMatcher::number_strings() {
    const StringPool &known = left_tree_.strings, &others = right_tree_.strings;
    joint_.reserve(others.size());
    for (std::uint32_t number = 0; number < others.size(); ++number) {
        std::uint32_t found = known.find(others[number], others.hash(number));
        if (found == kNone) {
            found = static_cast<std::uint32_t>(known.size() + only_right_.size());
            only_right_.push_back(number);
        }
        joint_.push_back(found);
    }
}

std::vector<std::uint32_t> TagMatcher::number_tags(const PageTree& tree, const std::vector<std::uint32_t>& part, bool is_right) {
    const auto joint = [&](std::uint32_t number) { return is_right && number != kNone ? joint_[number] : number; };
    std::vector<std::uint32_t> numbers;
    numbers.reserve(part.size());
    for (const std::uint32_t place : part) {
        const PageTree::Tag& tag = tree.tags[place];
        const Distinct made{joint(tag.name), joint(tag.string), static_cast<std::uint32_t>(attributes_.size()), tag.attribute_count};
        for (std::uint32_t i = 0; i < tag.attribute_count; ++i) {
            const PageTree::Attribute& own = tree.attributes[tag.attributes + i];
            attributes_.push_back({joint(own.key), joint(own.value), own.is_list});
        }
        const auto own = attributes_.begin() + made.attributes;
        std::sort(own, attributes_.end(), [&](const auto& a, const auto& b) { return a.key != b.key && string(a.key) < string(b.key); });
        std::uint64_t hash = mix(both(made.name, made.string) + 1);
        for (auto each = own; each != attributes_.end(); ++each) hash = mix(hash ^ (both(each->key, each->value) + each->is_list));
        const auto is_other = [&](const Distinct& known) {
            return known.name != made.name || known.string != made.string || known.attribute_count != made.attribute_count ||
                   !std::equal(own, attributes_.end(), attributes_.begin() + known.attributes,
                               [](const auto& a, const auto& b) { return a.key == b.key && a.value == b.value && a.is_list == b.is_list; });
        };
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot] != kNone && is_other(distinct_[slots_[slot]])) slot = (slot + 1) & (slots_.size() - 1);
        if (slots_[slot] == kNone) {
            slots_[slot] = static_cast<std::uint32_t>(distinct_.size());
            distinct_.push_back(made);
        } else {
            attributes_.resize(made.attributes);
        }
        numbers.push_back(slots_[slot]);
    }
    return numbers;
}

Matched TagMatcher::in_order() {
    Matched matched;
    for (std::uint32_t i = 0; i < std::min(left_.size(), right_.size()); ++i) matched.pairs.emplace_back(i, i);
    score(matched);
    return matched;
}

Matched TagMatcher::best() {
    Matched matched;
    std::vector<TagPair>& pairs = matched.pairs;
    const auto in_turn = [&](std::size_t i, std::size_t k, std::size_t count) {
        for (std::size_t n = 0; n < count; ++n) pairs.emplace_back(static_cast<std::uint32_t>(i + n), static_cast<std::uint32_t>(k + n));
    };
    // Equal tags at both ends belong together in some best pairing: nothing else resembles a tag more than its equal.
    const std::size_t most = std::min(left_.size(), right_.size());
    std::size_t start = 0, end = 0;
    while (start < most && left_[start] == right_[start]) ++start;
    while (end < most - start && left_[left_.size() - 1 - end] == right_[right_.size() - 1 - end]) ++end;
    in_turn(0, 0, start);
    for (const Stretch& each : stretches(start, end)) {
        const std::size_t rows = each.left_end - each.left, columns = each.right_end - each.right;
        if (std::equal(left_.begin() + each.left, left_.begin() + each.left_end, right_.begin() + each.right, right_.begin() + each.right_end)) {
            in_turn(each.left, each.right, rows);
        } else if (rows * columns > limits_.max_cells) {
            in_turn(each.left, each.right, std::min(rows, columns));
            matched.too_large = true;
        } else if (rows && columns) {
            align(each, pairs);
        }
    }
    in_turn(left_.size() - end, right_.size() - end, end);
    score(matched);
    return matched;
}

// The stretches where large pages agree and those between them; one for the whole, where they agree in little.
std::vector<TagMatcher::Stretch> TagMatcher::stretches(std::size_t start, std::size_t end) const {
    std::vector<Stretch> found;
    const std::size_t last_left = left_.size() - end, last_right = right_.size() - end;
    const std::size_t rows = last_left - start, columns = last_right - start;
    std::size_t left = start, right = start;
    const bool is_large = rows * columns > limits_.max_cells;
    if (is_large || (rows * columns > limits_.anchored_from && 2 * shared_at_most(start, end) >= std::min(rows, columns))) {
        const std::vector<std::uint64_t> a(left_.begin() + start, left_.begin() + last_left), b(right_.begin() + start, right_.begin() + last_right);
        const std::vector<SharedRun> runs = lookalike::align(a, b);
        std::size_t shared = 0;
        for (const SharedRun& run : runs) shared += run.length;
        if (is_large || 2 * shared >= std::min(rows, columns)) {
            for (const SharedRun& run : runs) {
                const std::size_t i = start + run.left, k = start + run.right;
                found.push_back({left, i, right, k});
                left = i + run.length;
                right = k + run.length;
                found.push_back({i, left, k, right});
            }
        }
    }
    found.push_back({left, last_left, right, last_right});
    return found;
}

// How many tags the middles have in common, in whatever order.
std::size_t TagMatcher::shared_at_most(std::size_t start, std::size_t end) const {
    std::vector<std::uint32_t> counts(distinct_.size(), 0);
    for (std::size_t i = start; i < left_.size() - end; ++i) ++counts[left_[i]];
    std::size_t shared = 0;
    for (std::size_t k = start; k < right_.size() - end; ++k) {
        if (counts[right_[k]]) --counts[right_[k]], ++shared;
    }
    return shared;
}

void TagMatcher::align(const Stretch& stretch, std::vector<TagPair>& pairs) {
    const std::span a = std::span(left_).subspan(stretch.left, stretch.left_end - stretch.left);
    const std::span b = std::span(right_).subspan(stretch.right, stretch.right_end - stretch.right);
    for (const std::uint32_t number : a) sign(number);
    for (const std::uint32_t number : b) sign(number);
    for (const auto& [i, k] : align_tags(a, b, table_, weights_.tags)) {
        pairs.emplace_back(static_cast<std::uint32_t>(stretch.left + i), static_cast<std::uint32_t>(stretch.right + k));
    }
}

// Strings by their three-byte parts; attributes by their keys, and by the keys with each word of their values.
void TagMatcher::sign(std::uint32_t number) {
    if (is_signed_[number]) return;
    is_signed_[number] = true;
    const Distinct& tag = distinct_[number];
    if (tag.string != kNone) table_.strings[number] = sign_string(bytes(string(tag.string)));
    Signature& signature = table_.attributes[number];
    std::string line;
    const auto add = [&] { lookalike::sign(signature, token_hash(reinterpret_cast<const std::uint8_t*>(line.data()), line.size())); };
    for (std::uint32_t i = 0; i < tag.attribute_count; ++i) {
        const PageTree::Attribute& own = attributes_[tag.attributes + i];
        const std::string_view key = string(own.key);
        line = key;
        if (!line.empty()) add();
        for_each_word(string(own.value), [&](std::string_view word) {
            line.resize(key.size());
            line += '=';
            line += word;
            add();
        });
    }
}

void TagMatcher::score(Matched& matched) {
    matched.similarities.reserve(matched.pairs.size());
    for (const auto& [i, k] : matched.pairs) matched.similarities.push_back(of_tags(left_[i], right_[k]));
}

bool TagMatcher::is_above_order(const Matched& found) const {
    constexpr double kRounding = 1e-9;
    double total = 0.0, bound = 0.0;
    for (const double similarity : found.similarities) total += similarity;
    const std::size_t shorter = std::min(left_.size(), right_.size()), longer = std::max(left_.size(), right_.size());
    for (std::size_t i = 0; i < shorter; ++i) bound += at_most(left_[i], right_[i]);
    return total / static_cast<double>(left_.size() + right_.size() - found.pairs.size()) > bound / static_cast<double>(longer) + kRounding;
}

}  // namespace lookalike
