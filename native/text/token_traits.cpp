#include "text/token_traits.hpp"

#include <algorithm>
#include <string_view>

namespace lookalike {
namespace {

constexpr std::u32string_view kSentenceEnds = U".!?;…。．！？；", kOtherSeparators = U",:-*|/，、：—–•·和与及或";
constexpr std::string_view kArticles[] = {"a", "an", "the"}, kConjunctions[] = {"and", "or"};

enum class Known : std::uint8_t { no, yes, unknown };

constexpr bool is_ascii_word(std::uint8_t byte) { return (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z'); }

bool is_one_of(char32_t code, std::u32string_view codes) { return codes.find(code) != codes.npos; }

struct Character {
    char32_t code;
    unsigned size;
};

// Of UTF-8 that Python wrote: well-formed but for lone surrogates. A sequence that is cut off ends with the text.
Character character_at(std::span<const std::uint8_t> utf8, std::size_t at) {
    const std::uint8_t lead = utf8[at];
    const unsigned wanted = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const unsigned size = static_cast<unsigned>(std::min<std::size_t>(wanted, utf8.size() - at));
    char32_t code = size == 1 ? lead : lead & (0xFFu >> (size + 1));
    for (unsigned i = 1; i < size; ++i) code = (code << 6) | (utf8[at + i] & 0x3Fu);
    return {code, size};
}

class Reader {
   public:
    Reader(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends)
        : utf8_(utf8), starts_(starts), ends_(ends) {
        found_.traits.resize(starts.size() + 1);
    }

    TokenTraits run() {
        std::size_t token = 0;
        std::uint32_t place = 0;
        for (std::size_t at = 0; at < utf8_.size(); ++place) {
            const Character character = character_at(utf8_, at);
            while (token < starts_.size() && starts_[token] < place) ++token;
            if (character.code == U'\n') {
                found_.traits[token] |= kLine;
            } else if (token < starts_.size() && starts_[token] == place) {
                // One character may have become several tokens: the first stands for it.
                read(token, at, character, ends_[token] - place);
                while (token + 1 < starts_.size() && starts_[token + 1] == place) ++token;
            }
            at += character.size;
        }
        return std::move(found_);
    }

   private:
    void read(std::size_t token, std::size_t at, Character character, std::uint32_t length) {
        if (length == 1 && (is_one_of(character.code, kSentenceEnds) || is_one_of(character.code, kOtherSeparators))) {
            const bool ends_sentence = is_one_of(character.code, kSentenceEnds);
            // Between two letters or digits an ASCII mark is part of a word.
            const Known inside = character.size > 1 ? Known::no : both(at, at + 1, false);
            if (inside == Known::unknown) found_.doubtful.push_back(static_cast<std::uint32_t>(token));
            if (inside == Known::no) separate(token, ends_sentence);
        } else if (length <= 3 && at + length <= utf8_.size()) {
            read_word(token, at, length);
        }
    }

    void read_word(std::size_t token, std::size_t at, std::uint32_t length) {
        const auto equals = [&](std::string_view word) {
            return word.size() == length && std::equal(word.begin(), word.end(), utf8_.begin() + static_cast<std::ptrdiff_t>(at),
                                                       [](char wanted, std::uint8_t byte) { return byte < 0x80 && wanted == static_cast<char>(byte | 32); });
        };
        const bool article = std::any_of(std::begin(kArticles), std::end(kArticles), equals);
        if (!article && std::none_of(std::begin(kConjunctions), std::end(kConjunctions), equals)) return;
        const Known joined = either(at, at + length);
        if (joined == Known::unknown) {
            found_.doubtful.push_back(static_cast<std::uint32_t>(token));
        } else if (joined == Known::no) {
            if (article) {
                found_.traits[token] |= kArticle;
            } else {
                separate(token, false);
            }
        }
    }

    void separate(std::size_t token, bool ends_sentence) {
        found_.traits[token] |= kSeparator;
        found_.traits[token + 1] |= kBehindSeparator | (ends_sentence ? kSentence : 0);
    }

    // Whether a letter or digit ends before `first`, or begins at `last`; an underline too, where asked.
    Known before(std::size_t first, bool underline) const { return first ? is_letter(utf8_[first - 1], underline) : Known::no; }
    Known behind(std::size_t last, bool underline) const { return last < utf8_.size() ? is_letter(utf8_[last], underline) : Known::no; }

    static Known is_letter(std::uint8_t byte, bool underline) {
        if (byte >= 0x80) return Known::unknown;
        return is_ascii_word(byte) || (underline && byte == '_') ? Known::yes : Known::no;
    }

    Known both(std::size_t first, std::size_t last, bool underline) const {
        const Known left = before(first, underline), right = behind(last, underline);
        if (left == Known::no || right == Known::no) return Known::no;
        return left == Known::yes && right == Known::yes ? Known::yes : Known::unknown;
    }

    Known either(std::size_t first, std::size_t last) const {
        const Known left = before(first, true), right = behind(last, true);
        if (left == Known::yes || right == Known::yes) return Known::yes;
        return left == Known::no && right == Known::no ? Known::no : Known::unknown;
    }

    std::span<const std::uint8_t> utf8_;
    std::span<const std::uint32_t> starts_, ends_;
    TokenTraits found_;
};

}  // namespace

TokenTraits token_traits(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends) {
    return Reader(utf8, starts, ends).run();
}

}  // namespace lookalike
