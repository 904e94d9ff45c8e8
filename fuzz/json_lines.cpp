// The scanner of JSON lines: everything it points at lies in its row, and a row means the same alone as among others.
#include <algorithm>

#include "fuzz.hpp"
#include "text/jsonl.hpp"

using namespace lookalike;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Exactly the block, so that a byte read beyond it is seen.
    const std::vector<std::uint8_t> block(data, data + size);
    const std::vector<std::string> columns{"text", "id", "a"};
    const JsonRows rows = scan_json_lines(block, columns);
    const std::size_t count = rows.begins.size();
    REQUIRE(rows.ends.size() == count && rows.lines.size() == count && rows.problems.size() == count && rows.problem_places.size() == count);
    REQUIRE(rows.values.size() == count * columns.size() && rows.text_offsets.size() == count + 1);
    REQUIRE(rows.text_offsets.back() == static_cast<std::int64_t>(rows.text.size()));
    const auto line_ends = static_cast<std::size_t>(std::ranges::count(block, '\n'));
    REQUIRE(rows.line_count == line_ends + (!block.empty() && block.back() != '\n'));
    std::int64_t before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t begin = rows.begins[i], end = rows.ends[i];
        REQUIRE(before <= begin && begin < end && end <= static_cast<std::int64_t>(size));
        REQUIRE(rows.lines[i] < rows.line_count && (i == 0 || rows.lines[i - 1] < rows.lines[i]));
        before = end;
        const auto problem = static_cast<RowProblem>(rows.problems[i]);
        REQUIRE((problem == RowProblem::broken) == (rows.problem_places[i] >= 0));
        REQUIRE(rows.problem_places[i] <= end && (problem != RowProblem::broken || rows.problem_places[i] >= begin));
        REQUIRE(rows.text_offsets[i] <= rows.text_offsets[i + 1]);
        const std::span text(rows.text.data() + rows.text_offsets[i], rows.text.data() + rows.text_offsets[i + 1]);
        REQUIRE(problem == RowProblem::none || text.empty());
        // Escapes may name lone surrogates, and bytes may be no UTF-8: the text is then refused, or reads as one that has them.
        if (problem == RowProblem::none &&
            fuzz::code_points(std::span(block).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))) >= 0) {
            REQUIRE(fuzz::code_points(text, true) >= 0);
        }
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const ValueSpan& value = rows.values[i * columns.size() + c];
            REQUIRE((value.begin < 0 && value.end < 0) || (begin <= value.begin && value.begin < value.end && value.end <= end));
        }
        const JsonRows alone = scan_json_lines(std::span(block).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), columns);
        REQUIRE(alone.begins.size() == 1 && alone.problems[0] == rows.problems[i] && std::ranges::equal(alone.text, text));
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const ValueSpan &here = rows.values[i * columns.size() + c], &there = alone.values[c];
            REQUIRE(here.begin < 0 ? there.begin < 0 : here.begin - begin == there.begin && here.end - begin == there.end);
        }
    }
    return 0;
}
