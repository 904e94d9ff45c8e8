// The text of a worksheet of an XLSX file: a line for each row that has some, a tab between cells.
//
// Read here is what spreadsheet programs write into nearly all files. Of everything else nothing is returned, and whoever asks takes a reader that knows all of
// the format: dates, rows without numbers or out of order, names with prefixes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lookalike {

// The texts of xl/sharedStrings.xml, by number.
class SharedTexts {
   public:
    // Adds those of a part; false where it is written in another way.
    bool read(std::string_view xml);

    std::size_t size() const { return ends_.size(); }
    std::string_view operator[](std::size_t number) const {
        const std::size_t begin = number ? ends_[number - 1] : 0;
        return std::string_view(texts_).substr(begin, ends_[number] - begin);
    }

   private:
    std::string texts_;
    std::vector<std::size_t> ends_;
};

struct SheetBounds {
    std::uint64_t cells;  // from the first row and column that have something to the last
    std::size_t bytes;    // of text without the tabs before the first cells of rows: one shared text may stand in many cells
};

// `plain` has a byte for each style of the book: whether numbers of this style are shown as numbers, and not as dates.
std::optional<std::string> sheet_text(std::string_view xml, const SharedTexts& shared, std::span<const std::uint8_t> plain, SheetBounds most);

// A number as Python shows it, without the ".0" of one below 10^15 that is whole. False for what is no finite decimal number.
bool append_number(std::string_view written, std::string& out);

}  // namespace lookalike
