#include "pages/page_outline.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "pages/page_reader.hpp"

namespace lookalike {
namespace {

std::uint64_t path_hash(std::uint64_t above, std::string_view name) {
    return mix(std::rotl(above, kShingleRotation) ^ token_hash(reinterpret_cast<const std::uint8_t*>(name.data()), name.size()));
}

// A page has few distinct paths: each is looked at once.
class OutlineBuilder {
   public:
    static constexpr bool kTakesAttributes = false;

    explicit OutlineBuilder(std::string_view left_out) {
        for_each_word(left_out, [&](std::string_view name) { left_out_.push_back(name); });
    }

    bool start(std::string_view name) {
        const Path above = open_.empty() ? Path{} : paths_[open_.back()];
        const std::uint64_t hash = path_hash(above.hash, name);
        std::size_t slot = slot_of(hash);
        if (slots_[slot] == kNone) {
            if (2 * (paths_.size() + 1) > slots_.size()) {
                grow();
                slot = slot_of(hash);
            }
            slots_[slot] = static_cast<std::uint32_t>(paths_.size());
            paths_.push_back({hash, above.is_left_out || std::ranges::find(left_out_, name) != left_out_.end()});
        }
        open_.push_back(slots_[slot]);
        return true;
    }

    void end() {
        if (!open_.empty()) open_.pop_back();
    }

    void characters(std::string_view text) {
        if (text.empty() || (!open_.empty() && paths_[open_.back()].is_left_out)) return;
        if (!text_.empty()) text_ += '\n';
        text_ += text;
    }

    PageOutline finish() {
        PageOutline outline{{}, std::move(text_)};
        for (const Path& path : paths_) outline.paths.push_back(path.hash);
        std::sort(outline.paths.begin(), outline.paths.end());
        return outline;
    }

   private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
    struct Path {
        std::uint64_t hash = 0;
        bool is_left_out = false;
    };

    std::size_t slot_of(std::uint64_t hash) const {
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot] != kNone && paths_[slots_[slot]].hash != hash) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), kNone);
        for (std::size_t number = 0; number < paths_.size(); ++number) slots_[slot_of(paths_[number].hash)] = static_cast<std::uint32_t>(number);
    }

    std::vector<std::string_view> left_out_;
    std::vector<Path> paths_;
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(256, kNone);  // numbers of paths, by hash; at most half full
    std::vector<std::uint32_t> open_;
    std::string text_;
};

}  // namespace

std::optional<PageOutline> read_outline(std::string_view markup, std::string_view left_out, std::string_view unseen) {
    std::optional<PageOutline> found;
    for (const std::string_view names : {left_out, unseen}) {
        OutlineBuilder builder(names);
        if (!MarkupReader(markup, builder).run()) return std::nullopt;
        found = builder.finish();
        if (!is_blank(found->text)) break;
    }
    return found;
}

std::vector<std::uint64_t> path_hashes(const PageTree& tree) {
    std::vector<std::uint64_t> every, distinct;
    for (const PageTree::Tag& tag : tree.tags) {
        every.push_back(path_hash(tag.parent == PageTree::kNone ? 0 : every[tag.parent], tree.strings[tag.name]));
        if (tag.name != tree.text_name) distinct.push_back(every.back());
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    return distinct;
}

}  // namespace lookalike
