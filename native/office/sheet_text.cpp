#include "office/sheet_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "office/xml_tokens.hpp"
#include "text/utf8.hpp"

namespace lookalike {
namespace {

using Kind = XmlTokens::Kind;

constexpr std::uint32_t kMaxRows = 1'048'576, kMaxColumns = 16'384;
// What a cell shows where a formula has no value: a reader of tables gives nothing for it.
constexpr std::string_view kErrors[] = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// A whole number of at most nine digits without a zero at its front.
std::optional<std::uint32_t> small_number(std::string_view digits) {
    if (digits.empty() || digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
    std::uint32_t found = 0;
    for (const char c : digits) {
        if (!is_digit(c)) return std::nullopt;
        found = 10 * found + static_cast<std::uint32_t>(c - '0');
    }
    return found;
}

struct CellPlace {
    std::uint32_t row, column;  // from 1 on
};

std::optional<CellPlace> cell_place(std::string_view name) {
    std::size_t letters = 0;
    std::uint32_t column = 0;
    for (; letters < name.size() && letters < 4 && name[letters] >= 'A' && name[letters] <= 'Z'; ++letters) {
        column = 26 * column + static_cast<std::uint32_t>(name[letters] - 'A') + 1;
    }
    const auto row = small_number(name.substr(letters));
    if (column == 0 || column > kMaxColumns || !row || *row == 0 || *row > kMaxRows) return std::nullopt;
    return CellPlace{*row, column};
}

bool is_area(std::string_view text) {
    const std::size_t colon = text.find(':');
    return cell_place(text.substr(0, colon)) && (colon == std::string_view::npos || cell_place(text.substr(colon + 1)));
}

// `_x000D_` stands for a carriage return: other readers know what.
bool has_escape(std::string_view text) {
    for (std::size_t place = text.find("_x"); place != std::string_view::npos; place = text.find("_x", place + 1)) {
        if (place + 7 <= text.size() && text[place + 6] == '_') return true;
    }
    return false;
}

// Between a start tag and its end tag there is text alone, or nothing. Its name is that of the start.
std::optional<std::string_view> only_text(XmlTokens& tokens) {
    std::string_view found;
    Kind kind = tokens.next();
    if (kind == Kind::text) {
        found = tokens.text();
        kind = tokens.next();
    }
    if (kind != Kind::end) return std::nullopt;
    return found;
}

// Appends the text of a `t`. False for something odd, and for white space at its ends that is not to be preserved: readers take it off.
bool append_kept(std::string_view text, bool preserved, std::string& out) {
    if (!preserved && !text.empty() && (is_blank(text.substr(0, 1)) || is_blank(text.substr(text.size() - 1)))) return false;
    return !has_escape(text) && append_unescaped(text, out);
}

// After the start of `si` or `is`: appends the text, to behind its end. A plain text is the first `t`, a rich one all of them but for how they are spoken.
// False for something odd.
bool append_string(XmlTokens& tokens, std::string& out) {
    bool is_rich = false, is_found = false;
    std::size_t runs = 0;  // that have started and not ended
    for (;;) {
        const Kind kind = tokens.next();
        if (kind == Kind::end) {
            if (runs == 0) return true;
            --runs;
            continue;
        }
        if (kind == Kind::text && is_blank(tokens.text())) continue;
        if (kind != Kind::start) return false;
        const std::string_view name = tokens.name();
        if (name == "t") {
            const bool preserved = tokens.attribute("xml:space") == "preserve";
            const auto text = only_text(tokens);
            if (is_rich ? runs == 0 : is_found) return false;
            if (!text || !append_kept(*text, preserved, out)) return false;
            is_found = true;
        } else if (name == "r") {
            if (runs || (is_found && !is_rich)) return false;
            is_rich = true;
            ++runs;
        } else if (name == "rPr" || name == "rPh" || name == "phoneticPr") {
            const bool is_spoken = name == "rPh";
            // Readers that look for names would take what is in it for a run, or for the end of what is spoken.
            if (!tokens.skip([&](std::string_view inside) { return inside == "t" ? is_spoken : inside != "r" && inside != "rPh" && inside != "si"; }))
                return false;
        } else {
            return false;
        }
    }
}

// Whether nothing odd follows: readers look at all of it for more than is read here.
bool is_sound_to_the_end(XmlTokens& tokens) {
    for (;;) {
        const Kind kind = tokens.next();
        if (kind == Kind::finished) return true;
        if (kind == Kind::odd) return false;
        if (kind != Kind::start) continue;
        const std::string_view name = tokens.local_name();
        if (name == "sheetData" || name == "si" || (name == "mergeCell" && !is_area(tokens.attribute("ref").value_or("")))) return false;
    }
}

// Past what stands before the first element.
std::optional<XmlTokens> after_declaration(std::string_view xml) {
    if (xml.starts_with("\xEF\xBB\xBF")) xml.remove_prefix(3);
    if (xml.starts_with("<?xml ")) {
        const std::size_t end = xml.find("?>");
        if (end == std::string_view::npos) return std::nullopt;
        std::string declared(xml.substr(0, end));
        std::ranges::transform(declared, declared.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        if (declared.find("encoding") != std::string::npos && declared.find("encoding=\"utf-8\"") == std::string::npos) return std::nullopt;
        xml.remove_prefix(end + 2);
    }
    xml.remove_prefix(std::min(xml.find('<'), xml.size()));
    return XmlTokens(xml);
}

bool is_well_formed(std::string_view text) { return is_utf8(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()); }

struct SheetLine {
    std::size_t begin;     // of its text, without the tabs before its first cell
    std::uint32_t column;  // of that cell
};

class SheetReader {
   public:
    SheetReader(XmlTokens tokens, const SharedTexts& shared, std::span<const std::uint8_t> plain, SheetBounds most)
        : tokens_(tokens), shared_(shared), plain_(plain), most_(most) {}

    bool run() {
        if (tokens_.next() != Kind::start || tokens_.name() != "worksheet") return false;
        for (;;) {
            const Kind kind = tokens_.next();
            if (kind == Kind::text && is_blank(tokens_.text())) continue;
            if (kind != Kind::start) return false;
            if (tokens_.name() == "sheetData") return read_rows() && is_sound_to_the_end(tokens_);
            if (tokens_.name() == "dimension") {
                const auto area = tokens_.attribute("ref");
                if (!area || !is_area(*area)) return false;
            } else if (is_of_cells(tokens_.local_name())) {
                return false;
            }
            if (!tokens_.skip([](std::string_view name) { return !is_of_cells(name); })) return false;
        }
    }

    bool is_within_bounds() const {
        if (first_row_ == 0) return true;
        return std::uint64_t{last_row_ - first_row_ + 1} * (last_column_ - first_column_ + 1) <= most_.cells;
    }

    // The lines with their tabs before the first cell: how many there are is known when all have been read.
    std::string finish() {
        std::string whole;
        std::size_t tabs = 0;
        for (const SheetLine& line : lines_) tabs += line.column - first_column_;
        whole.reserve(out_.size() + tabs + lines_.size());
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const std::size_t end = i + 1 < lines_.size() ? lines_[i + 1].begin : out_.size();
            if (i) whole.push_back('\n');
            whole.append(lines_[i].column - first_column_, '\t');
            whole.append(out_, lines_[i].begin, end - lines_[i].begin);
        }
        return whole;
    }

   private:
    // What must not be in an element before the rows: readers that look for names would find it there.
    static bool is_of_cells(std::string_view name) { return name == "sheetData" || name == "dimension" || name == "mergeCell"; }

    bool read_rows() {
        for (;;) {
            const Kind kind = tokens_.next();
            if (kind == Kind::end) return true;
            if (kind == Kind::text && is_blank(tokens_.text())) continue;
            if (kind != Kind::start || tokens_.name() != "row" || !read_row()) return false;
        }
    }

    bool read_row() {
        const auto number = tokens_.attribute("r");
        const auto row = number ? small_number(*number) : std::nullopt;
        if (!row || *row <= row_ || *row > kMaxRows) return false;
        row_ = *row;
        column_ = written_ = 0;
        const std::size_t begin = out_.size();
        for (;;) {
            const Kind kind = tokens_.next();
            if (kind == Kind::end) break;
            if (kind == Kind::text && is_blank(tokens_.text())) continue;
            if (kind != Kind::start || tokens_.name() != "c" || !read_cell()) return false;
        }
        while (out_.size() > begin && out_.back() == '\t') out_.pop_back();
        if (out_.size() > begin) lines_.push_back({begin, line_column_});
        return true;
    }

    bool read_cell() {
        const auto name = tokens_.attribute("r");
        const auto place = name ? cell_place(*name) : std::nullopt;
        if (!place || place->row != row_ || place->column <= column_) return false;
        column_ = place->column;
        const auto type = tokens_.attribute("t").value_or("n"), style = tokens_.attribute("s").value_or("");
        if (type == "inlineStr") {
            if (const auto text = tokens_.text_between("<is><t>", "</t></is></c>")) {
                begin_cell();
                return append_kept(*text, false, out_) && out_.size() <= most_.bytes;
            }
        } else if (const auto value = tokens_.text_between("<v>", "</v></c>")) {
            return read_value(type, style, *value) && out_.size() <= most_.bytes;
        }
        bool has_formula = false;
        for (;;) {
            const Kind kind = tokens_.next();
            if (kind == Kind::end) return true;  // nothing but a look, or a formula
            if (kind == Kind::text && is_blank(tokens_.text())) continue;
            if (kind != Kind::start) return false;
            const std::string_view inside = tokens_.name();
            if (inside == "f" && !has_formula && type != "inlineStr") {
                has_formula = true;
                if (!only_text(tokens_)) return false;
                continue;
            }
            if (inside == "v") {
                const auto value = only_text(tokens_);
                if (!value || !read_value(type, style, *value)) return false;
            } else if (inside != "is" || type != "inlineStr" || !read_inline()) {
                return false;
            }
            return ends() && out_.size() <= most_.bytes;
        }
    }

    // Nothing but the end of the cell follows.
    bool ends() {
        Kind kind = tokens_.next();
        if (kind == Kind::text && is_blank(tokens_.text())) kind = tokens_.next();
        return kind == Kind::end;
    }

    bool read_inline() {
        begin_cell();
        return append_string(tokens_, out_);
    }

    bool read_value(std::string_view type, std::string_view style, std::string_view value) {
        if (value.empty() && type == "n") return true;  // no cell
        begin_cell();
        if (value.empty()) return type == "str";
        if (type == "n") {
            if (!style.empty()) {
                const auto number = small_number(style);
                if (!number || *number >= plain_.size() || !plain_[*number]) return false;
            }
            return append_number(value, out_);
        }
        if (type == "s") {
            const auto number = small_number(value);
            if (!number || *number >= shared_.size()) return false;
            out_ += shared_[*number];
            return true;
        }
        if (type == "b") {
            out_ += value == "1" ? "TRUE" : "FALSE";
            return value == "1" || value == "0";
        }
        if (type == "str") return !has_escape(value) && append_unescaped(value, out_);
        return type == "e" && std::ranges::find(kErrors, value) != std::end(kErrors);
    }

    // What follows is the text of a cell.
    void begin_cell() {
        if (first_row_ == 0) first_row_ = row_;
        last_row_ = row_;
        first_column_ = std::min(first_column_, column_);
        last_column_ = std::max(last_column_, column_);
        if (written_ == 0) {
            line_column_ = column_;
        } else {
            out_.append(column_ - written_, '\t');
        }
        written_ = column_;
    }

    XmlTokens tokens_;
    const SharedTexts& shared_;
    std::span<const std::uint8_t> plain_;
    SheetBounds most_;
    std::string out_;
    std::vector<SheetLine> lines_;
    std::uint32_t row_ = 0, column_ = 0;
    std::uint32_t written_ = 0, line_column_ = 0;  // the last column of the row that has a text, and the first
    std::uint32_t first_row_ = 0, last_row_ = 0, first_column_ = std::numeric_limits<std::uint32_t>::max(), last_column_ = 0;
};

// Digits with an exponent as Python writes them: a point where it stands among the digits or near them, and else an exponent of at least two digits.
[[maybe_unused]] void append_digits(std::string_view digits, int exponent, std::string& out) {
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        out.push_back(digits[0]);
        if (count > 1) out.append(".").append(digits.substr(1));
        out.append(exponent < 0 ? "e-" : "e+");
        const int size = std::abs(exponent);
        if (size < 10) out.push_back('0');
        out += std::to_string(size);
    } else if (exponent < 0) {
        out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    } else if (count <= exponent + 1) {
        out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0').append(".0");
    } else {
        out.append(digits.substr(0, static_cast<std::size_t>(exponent + 1))).append(".").append(digits.substr(static_cast<std::size_t>(exponent + 1)));
    }
}

// -12.5e+3 and the like; no infinity, no spaces, nothing without a digit on both sides of its point.
[[maybe_unused]] bool is_decimal(std::string_view text) {
    std::size_t i = !text.empty() && text[0] == '-';
    const auto digits = [&] {
        const std::size_t begin = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        return i > begin;
    };
    if (!digits()) return false;
    if (i < text.size() && text[i] == '.' && (++i, !digits())) return false;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
        if (!digits()) return false;
    }
    return i == text.size();
}

}  // namespace

bool append_number(std::string_view written, std::string& out) {
    if (written.size() <= 9 && small_number(written)) return out += written, true;  // nearly all
#ifndef __cpp_lib_to_chars                                                          // a library that cannot read and write numbers exactly
    return false;
#else
    if (!is_decimal(written)) return false;
    double value = 0;
    if (std::from_chars(written.data(), written.data() + written.size(), value).ec != std::errc()) return false;
    if (std::trunc(value) == value && std::abs(value) < 1e15) return out += std::to_string(static_cast<std::int64_t>(value)), true;
    char room[32];
    const std::string_view shortest(room, static_cast<std::size_t>(std::to_chars(room, room + sizeof room, value, std::chars_format::scientific).ptr - room));
    const std::size_t mark = shortest.find('e');
    std::string digits;
    for (const char c : shortest.substr(0, mark)) {
        if (is_digit(c)) digits.push_back(c);
    }
    int exponent = 0;
    const std::size_t sign = shortest[mark + 1] == '+';  // which from_chars does not read
    std::from_chars(shortest.data() + mark + 1 + sign, shortest.data() + shortest.size(), exponent);
    if (value < 0) out.push_back('-');
    append_digits(digits, exponent, out);
    return true;
#endif
}

bool SharedTexts::read(std::string_view xml) {
    auto tokens = is_well_formed(xml) ? after_declaration(xml) : std::nullopt;
    if (!tokens || tokens->next() != Kind::start || tokens->name() != "sst") return false;
    for (;;) {
        const Kind kind = tokens->next();
        if (kind == Kind::end) return is_sound_to_the_end(*tokens);
        if (kind == Kind::text && is_blank(tokens->text())) continue;
        if (kind != Kind::start || tokens->name() != "si" || !append_string(*tokens, texts_)) return false;
        ends_.push_back(texts_.size());
    }
}

std::optional<std::string> sheet_text(std::string_view xml, const SharedTexts& shared, std::span<const std::uint8_t> plain, SheetBounds most) {
    const auto tokens = is_well_formed(xml) ? after_declaration(xml) : std::nullopt;
    if (!tokens) return std::nullopt;
    SheetReader reader(*tokens, shared, plain, most);
    if (!reader.run() || !reader.is_within_bounds()) return std::nullopt;
    return reader.finish();
}

}  // namespace lookalike
