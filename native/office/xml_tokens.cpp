#include "office/xml_tokens.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/text_view.hpp"

namespace lookalike {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<bool, 256> kNameCharacters = [] {
    std::array<bool, 256> found{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-.")) found[static_cast<unsigned char>(c)] = true;
    return found;
}();

// The end of a name that begins at `place`; `place` where there is none.
std::size_t name_end(std::string_view xml, std::size_t place) {
    if (place < xml.size() && (xml[place] == '-' || xml[place] == '.' || (xml[place] >= '0' && xml[place] <= '9'))) return place;
    while (place < xml.size() && kNameCharacters[static_cast<unsigned char>(xml[place])]) ++place;
    return place;
}

// What the reference at the front of a text stands for. Returns how many bytes it has; 0 for one that is not known here.
std::size_t append_reference(std::string_view text, std::string& out) {
    constexpr std::pair<std::string_view, char> kNamed[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (const auto& [name, sign] : kNamed) {
        if (text.starts_with(name)) return out.push_back(sign), name.size();
    }
    const std::size_t end = text.substr(0, 12).find(';');
    if (!text.starts_with("&#") || end == std::string_view::npos) return 0;
    const bool is_hex = text[2] == 'x';
    const char* const first = text.data() + (is_hex ? 3 : 2);
    std::uint32_t code = 0;
    const auto [last, error] = std::from_chars(first, text.data() + end, code, is_hex ? 16 : 10);
    // White space by number stays where readers take written white space off; surrogates and the last two are no characters.
    if (error != std::errc() || last != text.data() + end || code <= ' ' || (code >= 0xD800 && code < 0xE000) || (code | 1) == 0xFFFF || code > 0x10FFFF)
        return 0;
    std::uint8_t bytes[4];
    out.append(reinterpret_cast<const char*>(bytes), encode_one(code, bytes));
    return end + 1;
}

}  // namespace

XmlTokens::Kind XmlTokens::next() {
    if (is_odd_) return Kind::odd;
    if (std::exchange(is_empty_, false)) return name_ = open_[--depth_], Kind::end;
    if (place_ == xml_.size()) return depth_ == 0 ? Kind::finished : odd();
    if (xml_[place_] != '<') {
        const std::size_t end = std::min(xml_.find('<', place_), xml_.size());
        name_ = xml_.substr(place_, end - place_);
        place_ = end;
        return Kind::text;
    }
    ++place_;
    if (place_ < xml_.size() && xml_[place_] == '/') return read_end();
    const std::size_t end = name_end(xml_, place_);
    if (end == place_ || depth_ == kMaxDepth) return odd();
    name_ = open_[depth_++] = xml_.substr(place_, end - place_);
    place_ = end;
    return read_attributes() ? Kind::start : odd();
}

XmlTokens::Kind XmlTokens::read_end() {
    const std::size_t end = name_end(xml_, ++place_);
    if (end == place_ || end == xml_.size() || xml_[end] != '>') return odd();
    name_ = xml_.substr(place_, end - place_);
    if (depth_ == 0 || open_[--depth_] != name_) return odd();
    place_ = end + 1;
    return Kind::end;
}

// From behind the name of an element to behind the tag.
bool XmlTokens::read_attributes() {
    attribute_count_ = 0;
    for (;;) {
        const std::size_t before = place_;
        while (place_ < xml_.size() && is_space(xml_[place_])) ++place_;
        if (place_ == xml_.size()) return false;
        if (xml_[place_] == '>') return ++place_, true;
        if (xml_[place_] == '/') {
            if (place_ + 1 == xml_.size() || xml_[place_ + 1] != '>') return false;
            place_ += 2;
            return is_empty_ = true;
        }
        const std::size_t end = name_end(xml_, place_);
        if (before == place_ || end == place_ || xml_.size() - end < 2 || xml_[end] != '=' || attribute_count_ == kMaxAttributes) return false;
        const char quote = xml_[end + 1];
        if (quote != '"' && quote != '\'') return false;
        std::size_t close = end + 2;
        while (close < xml_.size() && xml_[close] != quote && xml_[close] != '<') ++close;
        if (close == xml_.size() || xml_[close] == '<') return false;
        const XmlAttribute found{xml_.substr(place_, end - place_), xml_.substr(end + 2, close - end - 2)};
        if (attribute(found.name)) return false;
        attributes_[attribute_count_++] = found;
        place_ = close + 1;
    }
}

std::optional<std::string_view> XmlTokens::attribute(std::string_view name) const {
    for (std::size_t i = 0; i < attribute_count_; ++i) {
        if (attributes_[i].name == name) return attributes_[i].value;
    }
    return std::nullopt;
}

std::optional<std::string_view> XmlTokens::text_between(std::string_view before, std::string_view after) {
    if (is_empty_ || is_odd_ || !xml_.substr(place_).starts_with(before)) return std::nullopt;
    const std::size_t begin = place_ + before.size(), end = xml_.find('<', begin);
    if (end == std::string_view::npos || !xml_.substr(end).starts_with(after)) return std::nullopt;
    place_ = end + after.size();
    --depth_;
    return xml_.substr(begin, end - begin);
}

bool append_unescaped(std::string_view text, std::string& out) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '&') continue;
        if (c == '\t' || c == '\n') continue;
        if (c != '&') return false;
        out.append(text, begin, i - begin);
        const std::size_t size = append_reference(text.substr(i), out);
        if (size == 0) return false;
        i += size - 1;
        begin = i + 1;
    }
    out.append(text, begin);
    return true;
}

}  // namespace lookalike
