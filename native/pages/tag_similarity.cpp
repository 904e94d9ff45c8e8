// How alike two tags are: by name, attributes and string. A text is its string.
#include <algorithm>

#include "pages/tag_matching.hpp"

namespace lookalike {
namespace {

constexpr std::uint32_t kNone = PageTree::kNone;

double length(std::string_view text) {  // in code points
    return static_cast<double>(std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::size_t common_words(std::string_view left, std::string_view right, std::size_t& all) {
    std::vector<std::string_view> a, b, shared;
    for_each_word(left, [&](std::string_view word) { a.push_back(word); });
    for_each_word(right, [&](std::string_view word) { b.push_back(word); });
    for (auto* words : {&a, &b}) {
        std::sort(words->begin(), words->end());
        words->erase(std::unique(words->begin(), words->end()), words->end());
    }
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
    all = a.size() + b.size() - shared.size();
    return shared.size();
}

}  // namespace

// No similarity of two tags is above this: of strings it looks at the lengths, of attributes at their number.
double TagMatcher::at_most(std::uint32_t left, std::uint32_t right) const {
    if (left == right) return 1.0;
    const Distinct &a = distinct_[left], &b = distinct_[right];
    const std::uint32_t text = left_tree_.text_name;
    if ((a.name == text) != (b.name == text)) return 0.0;
    double strings = a.string == b.string ? 1.0 : 0.0;
    if (a.string != b.string && a.string != kNone && b.string != kNone) {
        const double one = length(string(a.string)), other = length(string(b.string));
        strings = one * other > static_cast<double>(limits_.max_string_cells) ? 1.0 : 2.0 * std::min(one, other) / (one + other);
    }
    if (a.name == text) return strings;
    const double fewer = std::min(a.attribute_count, b.attribute_count), more = std::max(a.attribute_count, b.attribute_count);
    const double attributes = more == 0.0 ? 1.0 : fewer == 0.0 ? 0.0 : weights_.keys * fewer / more + 1.0 - weights_.keys;
    const TagWeights& weights = weights_.tags;
    return (weights.name * (a.name == b.name ? 1.0 : 0.0) + weights.attributes * attributes + weights.string * strings) /
           (weights.name + weights.attributes + weights.string);
}

double TagMatcher::of_tags(std::uint32_t left, std::uint32_t right) {
    if (left == right) return 1.0;
    const auto [found, is_new] = known_tags_.try_emplace(both(left, right), 0.0);
    if (!is_new) return found->second;
    const Distinct &a = distinct_[left], &b = distinct_[right];
    const std::uint32_t text = left_tree_.text_name;
    double similarity = 0.0;
    if (a.name == text || b.name == text) {
        similarity = a.name == b.name ? of_strings(a.string, b.string) : 0.0;
    } else {
        const TagWeights& weights = weights_.tags;
        double total = weights.name * (a.name == b.name ? 1.0 : 0.0);
        if (weights.attributes != 0.0) total += weights.attributes * of_attributes(a, b);
        if (weights.string != 0.0) total += weights.string * of_strings(a.string, b.string);
        similarity = std::min(1.0, total / (weights.name + weights.attributes + weights.string));
    }
    return found->second = similarity;
}

double TagMatcher::of_attributes(const Distinct& left, const Distinct& right) {
    const std::span a = std::span(attributes_).subspan(left.attributes, left.attribute_count);
    const std::span b = std::span(attributes_).subspan(right.attributes, right.attribute_count);
    std::size_t common = 0, equal = 0;
    double values = 0.0;
    for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        if (a[i].key != b[k].key) {
            string(a[i].key) < string(b[k].key) ? ++i : ++k;
            continue;
        }
        ++common;
        if (a[i].is_list != b[k].is_list) {
            // a list and a string have nothing in common
        } else if (a[i].value == b[k].value) {
            ++equal;
            values += 1.0;
        } else if (a[i].is_list) {
            std::size_t all = 0;
            const std::size_t shared = common_words(string(a[i].value), string(b[k].value), all);
            values += static_cast<double>(shared) / static_cast<double>(all);
        } else {
            values += of_strings(a[i].value, b[k].value);
        }
        ++i, ++k;
    }
    if (equal == a.size() && equal == b.size()) return 1.0;
    if (common == 0) return 0.0;
    const double keys = static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
    return weights_.keys * keys + (1.0 - weights_.keys) * (values / static_cast<double>(common));
}

double TagMatcher::of_strings(std::uint32_t left, std::uint32_t right) {
    if (left == right) return 1.0;
    if (left == kNone || right == kNone) return 0.0;
    const auto [found, is_new] = known_strings_.try_emplace(both(left, right), 0.0);
    if (is_new) found->second = ratio_(string(left), string(right));
    return found->second;
}

}  // namespace lookalike
