// Python's view of what a comparison needs of one text beside its tokens.
#include <algorithm>
#include <unordered_map>

#include "bind/bind.hpp"
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
        nb::gil_scoped_release release;
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
        nb::gil_scoped_release release;
        found = token_traits(view(text), view(starts), view(ends));
    }
    return {give(std::move(found.traits)), give(std::move(found.doubtful))};
}

Output<std::uint64_t> sort_hashes(Hashes hashes) {
    std::vector<std::uint64_t> sorted(hashes.data(), hashes.data() + hashes.size());
    {
        nb::gil_scoped_release release;
        std::sort(sorted.begin(), sorted.end());
    }
    return give(std::move(sorted));
}

}  // namespace

void bind_compared(nb::module_& m) {
    m.def("count_tokens", &count_tokens, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("token_traits", &traits_of, "text"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert());
    m.def("sort_hashes", &sort_hashes, "hashes"_a.noconvert());
}

}  // namespace lookalike
