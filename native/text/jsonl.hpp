// JSON lines: where rows and some of their columns stand, without making objects of them.
//
// Every line is checked in full (RFC 8259, and NaN and Infinity as Python writes them). Values are left where they are; only
// the text column is unescaped. So a row that is kept can be written as the bytes it came in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/platform.hpp"

namespace lookalike {

enum class RowProblem : std::uint8_t {
    none = 0,
    broken = 1,         // not JSON
    not_an_object = 2,  // JSON, but no object
    no_column = 3,      // no text column
    no_text = 4,        // the text is null
    wrong_type = 5,     // the text column holds something else than a string
};

struct ValueSpan {
    std::int64_t begin = -1, end = -1;  // in the block; -1: the row has no such column
};

struct JsonRows {
    std::vector<std::int64_t> begins, ends;    // of each row, with its line end
    std::vector<std::uint32_t> lines;          // the number of its line in the block: empty lines are no rows
    std::vector<std::uint8_t> problems;        // RowProblem
    std::vector<std::int64_t> problem_places;  // in the block, where a row is broken
    std::vector<ValueSpan> values;             // of the columns, one after the other for each row
    std::vector<std::uint8_t> text;            // of all rows, unescaped
    std::vector<std::int64_t> text_offsets{0};
    std::uint32_t line_count = 0;

    void clear();  // what there was; its memory is used again
};

// Column 0 is the text. The block ends at the end of a line, or of the file.
JsonRows scan_json_lines(std::span<const std::uint8_t> block, const std::vector<std::string>& columns);
// The same in lists that may have been used before.
void scan_json_lines(std::span<const std::uint8_t> block, const std::vector<std::string>& columns, JsonRows& rows);

}  // namespace lookalike
