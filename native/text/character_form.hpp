// Code points one by one: what each becomes by folding.
#pragma once

#include "base/platform.hpp"

namespace lookalike {

// What a code point becomes by folding: the characters, each with its class.
class CharacterForm {
   public:
    enum Class : unsigned { kOther = 0, kSpace = 1, kWord = 2, kSingle = 3, kMark = 4 };
    struct Item {
        unsigned character_class, size;
        const std::uint8_t* utf8;
    };

    explicit CharacterForm(std::uint32_t code);
    static unsigned of_ascii(std::uint8_t c);  // its class

    bool is_nothing() const { return items_ == nullptr; }
    bool is_one() const { return !is_nothing() && items_[1 + (items_[0] >> 4)] == 0; }
    Item first() const { return is_nothing() ? Item{kOther, 0, nullptr} : item_at(items_); }
    bool joins() const { return joins_; }  // what stands before it, or may: a mark or a conjoining letter

    template <class Visit>
    void for_each(Visit&& visit) const {
        if (is_nothing()) return;
        for (const std::uint8_t* item = items_; *item; item += 1 + (*item >> 4)) visit(item_at(item));
    }

   private:
    static Item item_at(const std::uint8_t* item) { return {unsigned{*item} & 15, unsigned{*item} >> 4, item + 1}; }

    std::uint8_t own_[6] = {};             // itself, where it stays as it is
    const std::uint8_t* items_ = nullptr;  // bytes and class in one byte, then the bytes; a zero at the end
    bool joins_ = false;
};

// The code point that a byte from 0x80 on begins, U+FFFD where it is none. Returns how many bytes it takes.
unsigned decode_one(const std::uint8_t* p, std::size_t left, std::uint32_t& code);

}  // namespace lookalike
