// Python's view of what a comparison needs of one text beside its tokens.
#include <algorithm>
#include <unordered_map>

#include "base/sort_hashes.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "sketch/shared_text.hpp"
#include "text/token_traits.hpp"

namespace lookalike {
namespace {

// The normal forms of the tokens of a text, each once and in the order in which they first occur, and how often each occurs. Tokens are told apart by
// secret hashes: nobody can write two that are counted as one.
std::pair<nb::list, nb::list> count_tokens(Bytes text, unsigned mode, bool fold) {
    const TextOptions options = check_text(mode, fold, 1, Seed{});
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    struct Token {
        std::size_t begin, end, count;
    };
    std::vector<Token> tokens;
    Folder folder;
    {
        const WithoutLock released;
        const Secret& secret = process_secret();
        std::unordered_map<std::uint64_t, std::uint32_t> numbers;
        folder.run(view(text), options.mode, options.fold, false);
        folder.for_each_token([&](std::size_t begin, std::size_t end) {
            const auto [found, is_new] = numbers.try_emplace(secret.of(folder.bytes() + begin, end - begin), static_cast<std::uint32_t>(tokens.size()));
            if (is_new) tokens.push_back({begin, end, 0});
            ++tokens[found->second].count;
        });
    }
    nb::list words, counts;
    for (const Token& token : tokens) {
        nb::object word = nb::steal(
            PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(folder.bytes() + token.begin), static_cast<Py_ssize_t>(token.end - token.begin), "replace"));
        if (!word.is_valid()) throw nb::python_error();
        words.append(word);
        counts.append(token.count);
    }
    return {words, counts};
}

std::pair<Output<std::uint8_t>, Output<std::uint32_t>> traits_of(Bytes text, Input<std::uint32_t> starts, Input<std::uint32_t> ends) {
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    if (starts.size() != ends.size()) throw nb::value_error("ends: expected as many as starts");
    TokenTraits found;
    {
        const WithoutLock released;
        found = token_traits(view(text), view(starts), view(ends));
    }
    return {give(std::move(found.traits)), give(std::move(found.doubtful))};
}

// Ascending; `unique`: each once.
Output<std::uint64_t> sorted_hashes(Hashes hashes, bool unique) {
    std::vector<std::uint64_t> sorted(hashes.data(), hashes.data() + hashes.size());
    {
        const WithoutLock released;
        sort_hashes(sorted);
        if (unique) sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    }
    return give(std::move(sorted));
}

// Each code point replaced by what a table has in its place; those behind the table's end stay.
Output<std::uint32_t> map_code_points(Input<std::uint32_t> text, Input<std::uint32_t> table) {
    std::vector<std::uint32_t> mapped(text.size());
    {
        const WithoutLock released;
        const std::size_t known = table.size();
        for (std::size_t i = 0; i < mapped.size(); ++i) {
            const std::uint32_t point = text.data()[i];
            mapped[i] = point < known ? table.data()[point] : point;
        }
    }
    return give(std::move(mapped));
}

// In how many places two texts of one length differ.
std::size_t count_differences(Input<std::uint32_t> a, Input<std::uint32_t> b) {
    if (a.size() != b.size()) throw nb::value_error("b: expected as long as a");
    const WithoutLock released;
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a.data()[i] != b.data()[i];
    return count;
}

// The characters of the tokens that begin within spans, which come in order of their starts, and those of all tokens.
std::pair<std::uint64_t, std::uint64_t> covered_by(Input<std::uint32_t> starts, Input<std::uint32_t> ends, Input<std::uint32_t> span_starts,
                                                   Input<std::uint32_t> span_ends) {
    if (starts.size() != ends.size()) throw nb::value_error("ends: expected as many as starts");
    if (span_starts.size() != span_ends.size()) throw nb::value_error("span_ends: expected as many as span_starts");
    const WithoutLock released;
    return covered_characters(view(starts), view(ends), span_starts.size(),
                              [&](std::size_t i) { return TextSpan(span_starts.data()[i], span_ends.data()[i]); });
}

}  // namespace

void bind_compared(nb::module_& m) {
    m.def("count_tokens", &count_tokens, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("token_traits", &traits_of, "text"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert());
    m.def("sort_hashes", &sorted_hashes, "hashes"_a.noconvert(), "unique"_a = false);
    m.def("map_code_points", &map_code_points, "text"_a.noconvert(), "table"_a.noconvert());
    m.def("count_differences", &count_differences, "a"_a.noconvert(), "b"_a.noconvert());
    m.def("covered_characters", &covered_by, "starts"_a.noconvert(), "ends"_a.noconvert(), "span_starts"_a.noconvert(), "span_ends"_a.noconvert());
}

}  // namespace lookalike
