#include "text/jsonl.hpp"

#include <algorithm>
#include <bit>

#include "base/dispatch.hpp"
#include "text/utf8.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

constexpr std::size_t kMaxDepth = 1024;

bool is_special(std::uint8_t c) { return c < 0x20 || c == '"' || c == '\\'; }

#if LOOKALIKE_HAS_LEVELS
// By hand: compilers gather the answers of a block by steps.
LOOKALIKE_AVX2 std::size_t plain_run_avx2(const std::uint8_t* p, std::size_t size, bool sound) {
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'), control = _mm256_set1_epi8(0x1F);
    const __m256i other = _mm256_set1_epi8(sound ? 0 : -128);  // the bit of what is not ASCII
    std::size_t done = 0;
    for (; done + 32 <= size; done += 32) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + done));
        __m256i special = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, quote), _mm256_cmpeq_epi8(bytes, backslash));
        special = _mm256_or_si256(special, _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, control), bytes));
        special = _mm256_or_si256(special, _mm256_and_si256(bytes, other));
        if (const auto found = static_cast<unsigned>(_mm256_movemask_epi8(special))) return done + static_cast<std::size_t>(std::countr_zero(found));
    }
    while (done < size && !is_special(p[done]) && (sound || p[done] < 0x80)) ++done;
    return done;
}
#endif

// How many bytes from `p` on need no look at: no quotes, backslashes and control characters, and ASCII alone unless all is known to be `sound`.
std::size_t plain_run(const std::uint8_t* p, std::size_t size, bool sound) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel != Level::plain) return plain_run_avx2(p, size, sound);
#endif
    constexpr std::size_t kBlock = 64;
    std::size_t done = 0;
    while (done + kBlock <= size) {
        std::uint8_t special = 0;
        for (std::size_t i = 0; i < kBlock; ++i) special |= static_cast<std::uint8_t>(is_special(p[done + i]) | (p[done + i] >= 0x80));
        if (special) break;
        done += kBlock;
    }
    while (done < size && !is_special(p[done]) && (sound || p[done] < 0x80)) ++done;
    return done;
}

// How many bytes from `p` on are well-formed sequences of three bytes, as nearly all Chinese text is: four at a time, for as long as nothing needs a closer
// look, such as the lead bytes E0 and ED.
std::size_t run_of_threes(const std::uint8_t* p, const std::uint8_t* end) {
    constexpr std::uint64_t kShape = 0xC0C0F0C0C0F0, kWanted = 0x8080E08080E0;
    constexpr unsigned kUsualLeads = 0xDFFE;  // by the lower half of the lead byte
    const auto are_usual = [](std::uint64_t two) { return (kUsualLeads >> (two & 15) & kUsualLeads >> (two >> 24 & 15) & 1) != 0; };
    const std::uint8_t* const first = p;
    while (end - p >= 14) {
        const std::uint64_t two = load64(p), more = load64(p + 6);
        if ((((two & kShape) ^ kWanted) | ((more & kShape) ^ kWanted)) != 0 || !are_usual(two) || !are_usual(more)) break;
        p += 12;
    }
    return static_cast<std::size_t>(p - first);
}

int hex_digit(std::uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void append_utf8(std::uint32_t code, std::vector<std::uint8_t>& out) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<std::uint8_t>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
    }
}

bool is_space(std::uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Reads one line. Every method returns false where the line is not JSON; `at` then is the place.
class Line {
   public:
    Line(const std::uint8_t* begin, const std::uint8_t* end) : at(begin), end_(end) {}

    const std::uint8_t* at;

    bool done() const { return at == end_; }
    bool next_is(std::uint8_t c) const { return at < end_ && *at == c; }
    void skip_space() {
        while (at < end_ && is_space(*at)) ++at;
    }
    bool take(std::uint8_t c) {
        if (!next_is(c)) return false;
        ++at;
        return true;
    }

    // A string with its quotes. `escaped` says whether it has escapes.
    bool string(bool& escaped) {
        escaped = false;
        if (!take('"')) return false;
        for (;;) {
            at += plain_run(at, static_cast<std::size_t>(end_ - at), sound_);
            if (done()) return false;
            if (*at == '"') return ++at, true;
            if (*at == '\\') {
                escaped = true;
                if (!escape()) return false;
            } else if (*at >= 0x80) {
                if (!looked_ && look_for_sound()) continue;
                at += run_of_threes(at, end_);
                while (at < end_ && *at >= 0x80) {
                    const unsigned size = sequence_length(at, end_);
                    if (size == 0) return false;
                    at += size;
                }
            } else {
                return false;  // a control character
            }
        }
    }

    // Any value, with all that is in it.
    bool value() {
        nested_.clear();
        for (;;) {
            skip_space();
            if (done()) return false;
            bool escaped;
            if (*at == '{' || *at == '[') {
                const bool object = *at == '{';
                if (nested_.size() == kMaxDepth) return false;
                ++at;
                skip_space();
                if (take(object ? '}' : ']')) {
                    if (!close()) return false;
                } else {
                    nested_.push_back(object);
                    if (object && !name()) return false;
                    continue;
                }
            } else if (*at == '"' ? !string(escaped) : !scalar()) {
                return false;
            } else if (!close()) {
                return false;
            }
            if (nested_.empty()) return true;
        }
    }

    bool name() {
        bool escaped;
        skip_space();
        if (!string(escaped)) return false;
        skip_space();
        return take(':');
    }

   private:
    // After a value: the ends of what it closes, or the comma and the name before the next one.
    bool close() {
        while (!nested_.empty()) {
            skip_space();
            if (take(',')) return nested_.back() ? name() : true;
            if (!take(nested_.back() ? '}' : ']')) return false;
            nested_.pop_back();
        }
        return true;
    }

    bool escape() {
        ++at;
        if (done()) return false;
        const std::uint8_t c = *at++;
        if (c != 'u') return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
        for (int i = 0; i < 4; ++i) {
            if (done() || hex_digit(*at) < 0) return false;
            ++at;
        }
        return true;
    }

    bool word(const char* expected) {
        const std::size_t size = std::strlen(expected);
        if (static_cast<std::size_t>(end_ - at) < size || std::memcmp(at, expected, size) != 0) return false;
        at += size;
        return true;
    }

    bool digits() {
        const std::uint8_t* first = at;
        while (at < end_ && *at >= '0' && *at <= '9') ++at;
        return at > first;
    }

    bool scalar() {
        switch (*at) {
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            case 'N': return word("NaN");
            case 'I': return word("Infinity");
            default: break;
        }
        if (take('-') && next_is('I')) return word("Infinity");
        if (next_is('0')) {
            ++at;
        } else if (!digits()) {
            return false;
        }
        if (take('.') && !digits()) return false;
        if (next_is('e') || next_is('E')) {
            ++at;
            if (!take('+')) take('-');
            return digits();
        }
        return true;
    }

    // At the first byte that is not ASCII: most lines have none, and need no look by themselves.
    bool look_for_sound() {
        looked_ = true;
        return sound_ = is_surely_utf8(at, static_cast<std::size_t>(end_ - at));
    }

    const std::uint8_t* end_;
    bool looked_ = false, sound_ = false;  // whether all that is left is well-formed UTF-8; otherwise that is looked at where it matters
    std::vector<bool> nested_;             // true: an object, false: an array
};

// The contents of a string that is known to be well-formed, given without its quotes.
void unescape(const std::uint8_t* p, const std::uint8_t* end, std::vector<std::uint8_t>& out) {
    const auto unit = [&](const std::uint8_t* digits) {
        return static_cast<std::uint32_t>(hex_digit(digits[0]) << 12 | hex_digit(digits[1]) << 8 | hex_digit(digits[2]) << 4 | hex_digit(digits[3]));
    };
    while (p < end) {
        const auto* slash = static_cast<const std::uint8_t*>(std::memchr(p, '\\', static_cast<std::size_t>(end - p)));
        const std::uint8_t* plain = slash ? slash : end;
        out.insert(out.end(), p, plain);
        if (!slash) return;
        p = slash + 2;
        switch (slash[1]) {
            case 'b': out.push_back('\b'); break;
            case 'f': out.push_back('\f'); break;
            case 'n': out.push_back('\n'); break;
            case 'r': out.push_back('\r'); break;
            case 't': out.push_back('\t'); break;
            case 'u': {
                std::uint32_t code = unit(p);
                p += 4;
                if (code >= 0xD800 && code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
                    if (const std::uint32_t low = unit(p + 2); low >= 0xDC00 && low < 0xE000) {
                        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                        p += 6;
                    }
                }
                append_utf8(code, out);  // a lone surrogate keeps its three bytes
                break;
            }
            default: out.push_back(slash[1]);
        }
    }
}

class Scanner {
   public:
    Scanner(std::span<const std::uint8_t> block, const std::vector<std::string>& columns, JsonRows& rows) : block_(block), columns_(columns), rows_(rows) {}

    void run() {
        const std::uint8_t *p = block_.data(), *end = p + block_.size();
        rows_.text.reserve(block_.size());
        while (p < end) {
            const auto* newline = static_cast<const std::uint8_t*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            const std::uint8_t* stop = newline ? newline : end;
            const std::uint8_t* next = newline ? newline + 1 : end;
            row(p, stop, next);
            ++rows_.line_count;
            p = next;
        }
    }

   private:
    std::int64_t place(const std::uint8_t* p) const { return p - block_.data(); }

    void row(const std::uint8_t* begin, const std::uint8_t* end, const std::uint8_t* next) {
        Line line(begin, end);
        line.skip_space();
        if (line.done()) return;
        rows_.begins.push_back(place(begin));
        rows_.ends.push_back(place(next));
        rows_.lines.push_back(rows_.line_count);
        const std::size_t first = rows_.values.size();
        rows_.values.resize(first + columns_.size());
        const bool object = line.next_is('{');
        const bool valid = (object ? members(line, rows_.values.data() + first) : line.value()) && (line.skip_space(), line.done());
        RowProblem problem = !valid ? RowProblem::broken : !object ? RowProblem::not_an_object : RowProblem::none;
        if (problem == RowProblem::none) problem = text(rows_.values[first]);
        rows_.problems.push_back(static_cast<std::uint8_t>(problem));
        rows_.problem_places.push_back(valid ? -1 : place(line.at));
        rows_.text_offsets.push_back(static_cast<std::int64_t>(rows_.text.size()));
    }

    // The members of the outermost object. Of a name that comes twice the last one counts, as everywhere.
    bool members(Line& line, ValueSpan* values) {
        line.take('{');
        line.skip_space();
        if (line.take('}')) return true;
        for (;;) {
            line.skip_space();
            const std::uint8_t* name = line.at;
            bool escaped;
            if (!line.string(escaped)) return false;
            const std::size_t column = column_of(name + 1, line.at - 1, escaped);
            line.skip_space();
            if (!line.take(':')) return false;
            line.skip_space();
            const std::uint8_t* begin = line.at;
            if (line.next_is('"')) {
                if (!line.string(escaped)) return false;
                if (column == 0) text_escaped_ = escaped;
            } else if (!line.value()) {
                return false;
            }
            if (column < columns_.size()) values[column] = {place(begin), place(line.at)};
            line.skip_space();
            if (line.take('}')) return true;
            if (!line.take(',')) return false;
        }
    }

    std::size_t column_of(const std::uint8_t* begin, const std::uint8_t* end, bool escaped) {
        if (escaped) {
            name_.clear();
            unescape(begin, end, name_);
            begin = name_.data();
            end = begin + name_.size();
        }
        const auto same = [&](const std::string& column) {
            return column.size() == static_cast<std::size_t>(end - begin) && std::memcmp(column.data(), begin, column.size()) == 0;
        };
        return static_cast<std::size_t>(std::find_if(columns_.begin(), columns_.end(), same) - columns_.begin());
    }

    RowProblem text(const ValueSpan& value) {
        if (value.begin < 0) return RowProblem::no_column;
        const std::uint8_t *begin = block_.data() + value.begin, *end = block_.data() + value.end;
        if (*begin == 'n') return RowProblem::no_text;
        if (*begin != '"') return RowProblem::wrong_type;
        if (text_escaped_) {
            unescape(begin + 1, end - 1, rows_.text);
        } else {
            rows_.text.insert(rows_.text.end(), begin + 1, end - 1);
        }
        return RowProblem::none;
    }

    std::span<const std::uint8_t> block_;
    const std::vector<std::string>& columns_;
    JsonRows& rows_;
    std::vector<std::uint8_t> name_;
    bool text_escaped_ = false;
};

}  // namespace

void JsonRows::clear() {
    begins.clear(), ends.clear(), lines.clear(), problems.clear(), problem_places.clear(), values.clear(), text.clear();
    text_offsets.assign(1, 0);
    line_count = 0;
}

void scan_json_lines(std::span<const std::uint8_t> block, const std::vector<std::string>& columns, JsonRows& rows) {
    rows.clear();
    rows.text.reserve(std::bit_ceil(block.size()));  // once, and not again for every block that is a little larger than those before
    Scanner(block, columns, rows).run();
}

JsonRows scan_json_lines(std::span<const std::uint8_t> block, const std::vector<std::string>& columns) {
    JsonRows rows;
    scan_json_lines(block, columns, rows);
    return rows;
}

}  // namespace lookalike
