#include "pages/page_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace lookalike {
namespace {

constexpr std::string_view kListsOfAll[] = {"class", "accesskey", "dropzone"};
// Attributes that hold a list of words, as BeautifulSoup has them.
constexpr std::pair<std::string_view, std::string_view> kListsOfSome[] = {
    {"a", "rel"},          {"a", "rev"},      {"link", "rel"},
    {"link", "rev"},       {"area", "rel"},   {"td", "headers"},
    {"th", "headers"},     {"icon", "sizes"}, {"form", "accept-charset"},
    {"object", "archive"}, {"output", "for"}, {"iframe", "sandbox"},
};

bool is_list(std::string_view name, std::string_view key) {
    return std::ranges::find(kListsOfAll, key) != std::end(kListsOfAll) || std::ranges::find(kListsOfSome, std::pair{name, key}) != std::end(kListsOfSome);
}

std::uint64_t hash_of(std::string_view text) { return token_hash(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()); }

}  // namespace

bool is_blank(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t space = space_at(text, i);
        if (space == 0) return false;
        i += space;
    }
    return true;
}

std::size_t StringPool::slot_of(std::string_view text, std::uint64_t hash) const {
    std::size_t slot = mix(hash) & (slots_.size() - 1);
    while (slots_[slot] != kNone && (hashes_[slots_[slot]] != hash || (*this)[slots_[slot]] != text)) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

std::uint32_t StringPool::find(std::string_view text, std::uint64_t hash) const { return slots_[slot_of(text, hash)]; }

std::uint32_t StringPool::add(std::string_view text) {
    const std::uint64_t hash = hash_of(text);
    std::size_t slot = slot_of(text, hash);
    if (slots_[slot] != kNone) return slots_[slot];
    if (2 * (size() + 1) > slots_.size()) {
        grow();
        slot = slot_of(text, hash);
    }
    slots_[slot] = static_cast<std::uint32_t>(size());
    bytes_.append(text);
    ends_.push_back(bytes_.size());
    hashes_.push_back(hash);
    return slots_[slot];
}

void StringPool::grow() {
    std::vector<std::uint32_t> larger(2 * slots_.size(), kNone);
    for (std::size_t number = 0; number < size(); ++number) {
        std::size_t slot = mix(hashes_[number]) & (larger.size() - 1);
        while (larger[slot] != kNone) slot = (slot + 1) & (larger.size() - 1);
        larger[slot] = static_cast<std::uint32_t>(number);
    }
    slots_ = std::move(larger);
}

bool PageBuilder::start(std::string_view name) {
    flush();
    const auto depth = static_cast<std::uint32_t>(open_.size());
    const std::uint32_t parent = open_.empty() ? PageTree::kNone : open_.back().tag;
    if (depth == 1) in_head_ = name == "head";
    const auto place = static_cast<std::uint32_t>(tree_.tags.size());
    if (!append({tree_.strings.add(name), PageTree::kNone, parent, depth, static_cast<std::uint32_t>(tree_.attributes.size()), 0})) return false;
    open_.push_back({place, 0, PageTree::kNone, name == "script" || name == "style"});
    tree_.depth = std::max(tree_.depth, depth);
    return true;
}

void PageBuilder::attribute(std::string_view key, std::string_view value) {
    PageTree::Tag& tag = tree_.tags.back();
    const bool list = is_list(tree_.strings[tag.name], key);
    if (list) {
        joined_.clear();
        for_each_word(value, [&](std::string_view word) {
            if (!joined_.empty()) joined_ += ' ';
            joined_ += word;
        });
        value = joined_;
    }
    const std::uint32_t number = tree_.strings.add(key);
    tree_.attributes.push_back({number, tree_.strings.add(value), list});
    ++tag.attribute_count;
}

void PageBuilder::end() {
    flush();
    if (open_.empty()) return;
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.children == 1) tree_.tags[closed.tag].string = closed.last;
    if (open_.empty()) return;
    ++open_.back().children;
    open_.back().last = tree_.tags[closed.tag].string;
}

PageTree PageBuilder::finish() {
    while (!open_.empty()) end();
    return std::exchange(tree_, {});
}

void PageBuilder::flush() {
    if (text_.empty()) return;
    if (!open_.empty() && !open_.back().is_silent) {
        const std::uint32_t number = tree_.strings.add(text_);
        ++open_.back().children;
        open_.back().last = number;
        const auto depth = static_cast<std::uint32_t>(open_.size());
        if (!is_blank(text_)) {
            append({tree_.text_name, number, open_.back().tag, depth, static_cast<std::uint32_t>(tree_.attributes.size()), 0});
        }
    }
    text_.clear();
}

bool PageBuilder::append(const PageTree::Tag& tag) {
    if (tree_.is_cut || tree_.tags.size() >= most_) {
        tree_.is_cut = true;
        return false;
    }
    if (tag.depth > 1) (in_head_ ? tree_.head : tree_.body).push_back(static_cast<std::uint32_t>(tree_.tags.size()));
    tree_.tags.push_back(tag);
    return true;
}

}  // namespace lookalike
