// Normalising and tokenizing: spans lie in the text and in order, bytes are valid, every way to the same hashes gives the same, a folded
// text stays as it is, and what a text means does not hang on what was folded before it.
#include <algorithm>

#include "fuzz.hpp"
#include "sketch/verify.hpp"
#include "text/text_source.hpp"

using namespace lookalike;

namespace {

struct Token {
    std::string form;
    std::uint32_t start, end;
};

std::string bytes_of(const Folder& folder) { return {reinterpret_cast<const char*>(folder.bytes()), folder.size()}; }

std::vector<Token> tokens_of(const Folder& folder, std::size_t code_points) {
    std::vector<Token> tokens;
    std::size_t before = 0;
    std::uint32_t start = 0;
    folder.for_each_token([&](std::size_t begin, std::size_t end) {
        REQUIRE(before <= begin && begin < end && end <= folder.size());
        before = end;
        const Token token{std::string(folder.bytes() + begin, folder.bytes() + end), folder.span_begin(begin), folder.span_end(end - 1)};
        REQUIRE(token.start < token.end && token.end <= code_points);
        REQUIRE(start <= token.start);
        start = token.start;
        REQUIRE(fuzz::code_points(fuzz::bytes_of(token.form)) > 0);
        tokens.push_back(token);
    });
    return tokens;
}

// Code points as Python's errors="replace" counts them, but a surrogate in three bytes is one.
std::size_t original_code_points(std::span<const std::uint8_t> text) {
    Folder folder;  // in the mode of characters nothing but white space and marks is joined: an upper bound is enough
    (void)folder;
    std::size_t count = 0;
    for (const std::uint8_t byte : text) count += (byte & 0xC0) != 0x80;
    return count + static_cast<std::size_t>(std::ranges::count_if(text, [](std::uint8_t byte) { return (byte & 0xC0) == 0x80; }));
}

void check(std::span<const std::uint8_t> text, Mode mode, bool fold) {
    Folder folder, second;
    folder.run(text, mode, fold, true);
    const std::string folded = bytes_of(folder);
    REQUIRE(fuzz::code_points(fuzz::bytes_of(folded)) >= 0);
    const std::vector<Token> tokens = tokens_of(folder, original_code_points(text));

    // Without spans the same; and with buffers that another text left behind.
    second.run(fuzz::bytes_of("Ünïcode ﬁrst 한글 ideographs 漢字漢字 and then some more"), Mode::automatic, true, false);
    second.run(text, mode, fold, false);
    REQUIRE(bytes_of(second) == folded);

    // Hashes one by one, in stretches, and through the shingler.
    std::vector<std::uint64_t> expected, seen, shingled;
    TokenSequence sequence;
    for (const Token& token : tokens) {
        expected.push_back(token_hash(reinterpret_cast<const std::uint8_t*>(token.form.data()), token.form.size()));
        sequence.add(expected.back());
    }
    TextShingler shingler({mode, fold, 1, 7});
    shingler.run(
        text, [&](const std::uint64_t* hashes, std::size_t count) { shingled.insert(shingled.end(), hashes, hashes + count); },
        [&](std::uint64_t hash) { seen.push_back(hash); });
    REQUIRE(seen == expected);
    REQUIRE(shingled.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(shingled[i] == mix(mix(7) ^ expected[i]));
    REQUIRE(ContentDigester(mode, fold).run(text) == sequence.digest());

    // With a key: token by token, in stretches of vectors, and through the shingler.
    const HashKey key{{1, 2}, {3, 4}, {5, 6, 7}};
    std::vector<std::uint64_t> keyed;
    TextShingler keyed_shingler({mode, fold, 1, Hashing(7, key)});
    keyed_shingler.run(text, [&](const std::uint64_t* hashes, std::size_t count) { keyed.insert(keyed.end(), hashes, hashes + count); });
    REQUIRE(keyed.size() == tokens.size());
    for (std::size_t i = 0; i < keyed.size(); ++i) {
        const std::uint64_t token = siphash(key.tokens, reinterpret_cast<const std::uint8_t*>(tokens[i].form.data()), tokens[i].form.size());
        REQUIRE(keyed[i] == (mix(mix(mix(7) ^ 5 ^ token) ^ 6) ^ 7));
    }
}

// What is normalised stays as it is.
void check_idempotence(std::span<const std::uint8_t> text) {
    Folder folder;
    folder.run(text, Mode::text, true, false);
    const std::string once = bytes_of(folder);
    folder.run(fuzz::bytes_of(once), Mode::text, true, false);
    REQUIRE(bytes_of(folder) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::vector<std::uint8_t> text(data + 1, data + size);  // exactly the text, so that a byte read beyond it is seen
    static constexpr Mode kModes[] = {Mode::automatic, Mode::words, Mode::chars, Mode::pieces};
    check(text, kModes[data[0] % 4], (data[0] & 4) == 0);
    check_idempotence(text);
    return 0;
}
