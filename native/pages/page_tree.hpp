// A page as flat tables: its tags and texts in document order, every distinct string once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lookalike {

// Distinct strings, numbered in the order in which they came.
class StringPool {
   public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

    std::uint32_t add(std::string_view text);
    std::uint32_t find(std::string_view text, std::uint64_t hash) const;  // kNone: not here
    std::string_view operator[](std::uint32_t number) const { return {bytes_.data() + ends_[number], ends_[number + 1] - ends_[number]}; }
    std::uint64_t hash(std::uint32_t number) const { return hashes_[number]; }
    std::size_t size() const { return hashes_.size(); }

   private:
    std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
    void grow();

    std::string bytes_;
    std::vector<std::size_t> ends_{0};
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64, kNone);  // numbers, by hash; at most half full
};

struct PageTree {
    static constexpr std::uint32_t kNone = StringPool::kNone;
    struct Tag {
        std::uint32_t name;    // of a text: text_name
        std::uint32_t string;  // kNone: it has none
        std::uint32_t parent, depth;
        std::uint32_t attributes, attribute_count;  // where they begin in the table of all
    };
    struct Attribute {
        std::uint32_t key, value;  // of a list: its words, with one space between them
        bool is_list;
    };

    StringPool strings;
    std::uint32_t text_name = strings.add("#text");
    std::vector<Tag> tags;
    std::vector<Attribute> attributes;
    std::vector<std::uint32_t> head, body;  // places among the tags
    std::uint32_t depth = 0;
    bool is_cut = false;  // there was more than the builder takes
};

// Takes the events of a parser. For every open tag it counts the children and keeps the string of the last.
class PageBuilder {
   public:
    static constexpr bool kTakesAttributes = true;

    explicit PageBuilder(std::size_t most) : most_(most) {}

    bool start(std::string_view name);                             // false: there are too many, and nothing more is taken
    void attribute(std::string_view key, std::string_view value);  // of the tag that was started last
    void end();
    void characters(std::string_view text) { text_.append(text); }
    PageTree finish();

   private:
    struct Open {
        std::uint32_t tag, children, last;
        bool is_silent;  // what scripts and styles hold is no text
    };
    void flush();
    bool append(const PageTree::Tag& tag);

    PageTree tree_;
    std::size_t most_;
    std::vector<Open> open_;
    std::string text_, joined_;
    bool in_head_ = false;
};

// Calls word(text) for each run without white space, which is what Python's str.split() takes for it.
template <class Word>
void for_each_word(std::string_view text, Word&& word);

bool is_blank(std::string_view text);

// The size of the white space at `place`; 0: there is none.
inline std::size_t space_at(std::string_view text, std::size_t place) {
    const auto byte = [&](std::size_t i) { return place + i < text.size() ? static_cast<std::uint8_t>(text[place + i]) : std::uint8_t{0}; };
    const std::uint8_t first = byte(0);
    if (first < 0x80) return first == ' ' || (first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x1F) ? 1 : 0;
    if (first == 0xC2) return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
    if (first == 0xE1) return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;  // U+1680
    if (first == 0xE3) return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;  // U+3000
    if (first != 0xE2) return 0;
    if (byte(1) == 0x81) return byte(2) == 0x9F ? 3 : 0;  // U+205F
    if (byte(1) != 0x80) return 0;
    return (byte(2) >= 0x80 && byte(2) <= 0x8A) || byte(2) == 0xA8 || byte(2) == 0xA9 || byte(2) == 0xAF ? 3 : 0;  // U+2000 … U+202F
}

template <class Word>
void for_each_word(std::string_view text, Word&& word) {
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t space = space_at(text, i);
        if (space && i > start) word(text.substr(start, i - start));
        i += space ? space : 1;
        if (space) start = i;
    }
    if (start < text.size()) word(text.substr(start));
}

}  // namespace lookalike
