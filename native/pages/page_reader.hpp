// Reads what a parser wrote, and tells a builder: of tags that start, with their attributes, and end, and of text between them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace lookalike {

// A name of up to eight bytes as one number; 0 for longer ones.
constexpr std::uint64_t packed_name(std::string_view name) {
    if (name.size() > 8) return 0;
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < name.size(); ++i) packed |= std::uint64_t{static_cast<std::uint8_t>(name[i])} << 8 * i;
    return packed;
}

template <std::size_t N>
constexpr std::array<std::uint64_t, N> packed_names(const std::string_view (&names)[N]) {
    std::array<std::uint64_t, N> packed{};
    for (std::size_t i = 0; i < N; ++i) packed[i] = packed_name(names[i]);
    return packed;
}

// Elements that hold nothing; that hold raw text; and before whose text a first line break is written twice.
inline constexpr auto kVoidNames = packed_names(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr"});
inline constexpr auto kRawNames = packed_names({"script", "style", "xmp", "iframe", "noembed", "noframes"});
inline constexpr auto kLinesFirstNames = packed_names({"pre", "textarea", "listing"});

template <class Names>
bool is_one_of(std::uint64_t name, const Names& names) {
    bool found = false;
    for (const std::uint64_t each : names) found |= each == name;
    return found;
}

template <class Builder>
class MarkupReader {
    using string_view = std::string_view;

   public:
    MarkupReader(string_view markup, Builder& builder) : rest_(markup), builder_(builder) {}

    // False: this text can mean two trees, or is none.
    bool run() {
        while (!rest_.empty()) {
            if (rest_.front() != '<') {
                builder_.characters(plain(until('<')));
            } else if (!markup()) {
                return false;
            } else if (is_full_) {
                break;
            }
        }
        return true;
    }

   private:
    // Everything before the mark, which stays; everything there is, where it is missing.
    template <class Mark>
    string_view until(const Mark& mark) {
        const std::size_t end = std::min(rest_.find(mark), rest_.size());
        const string_view found = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return found;
    }

    bool skip(string_view mark) {
        if (!rest_.starts_with(mark)) return false;
        rest_.remove_prefix(mark.size());
        return true;
    }

    bool skip(char mark) {
        if (!rest_.starts_with(mark)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    template <class Mark>
    bool skip_beyond(const Mark& mark) {
        until(mark);
        return skip(mark);
    }

    bool markup() {
        if (skip("<!--")) return skip_beyond("-->");
        if (skip("<!") || skip("<?")) return skip_beyond('>');
        if (skip("</")) {
            if (foreign_) --foreign_;
            builder_.end();
            return skip_beyond('>');
        }
        return start();
    }

    bool start() {
        rest_.remove_prefix(1);
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '>') ++end;
        if (end == 0 || end == rest_.size()) return false;
        const string_view name = rest_.substr(0, end);
        rest_.remove_prefix(end);
        is_full_ = !builder_.start(name);
        if (is_full_) return true;
        while (skip(' ')) {
            if (!attribute()) return false;
        }
        if (!skip('>')) return false;
        return content(name);
    }

    bool attribute() {
        const std::size_t end = rest_.find('=', 1);  // a name may begin with "="
        if (end == string_view::npos) return false;
        const string_view key = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!skip('"')) return false;
        const string_view value = until('"');
        if constexpr (Builder::kTakesAttributes) builder_.attribute(key, plain(value));
        return skip('"');
    }

    bool content(string_view name) {
        const std::uint64_t packed = packed_name(name);
        const bool is_void = is_one_of(packed, kVoidNames), is_raw = is_one_of(packed, kRawNames), lines_first = is_one_of(packed, kLinesFirstNames);
        if (name == "plaintext") return false;
        if (foreign_ || name == "svg" || name == "math") {
            ++foreign_;
            return !is_void && !is_raw && !lines_first;
        }
        if (is_void) builder_.end();
        if (lines_first) skip('\n');
        return !is_raw || raw(name);
    }

    // What scripts, styles and the like hold ends where they do: the parser that read it looked for the same end.
    bool raw(string_view name) {
        end_ = "</";
        end_ += name;
        end_ += '>';
        const string_view found = until(end_);
        const std::size_t comment = found.find("<!--");
        if (name == "script" && comment != string_view::npos && has_script(found.substr(comment))) return false;
        builder_.characters(found);
        return true;
    }

    static bool has_script(string_view text) {
        constexpr string_view kTag = "<script";
        const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
        return std::search(text.begin(), text.end(), kTag.begin(), kTag.end(), same) != text.end();
    }

    // Without the few entities that a serialiser writes.
    string_view plain(string_view escaped) {
        std::size_t place = escaped.find('&');
        if (place == string_view::npos) return escaped;
        constexpr std::pair<string_view, string_view> kEntities[] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\u00A0"}, {"&quot;", "\""}};
        plain_.clear();
        for (; place != string_view::npos; place = escaped.find('&')) {
            plain_ += escaped.substr(0, place);
            escaped.remove_prefix(place);
            const auto found = std::ranges::find_if(kEntities, [&](const auto& entity) { return escaped.starts_with(entity.first); });
            const bool is_known = found != std::end(kEntities);
            plain_ += is_known ? found->second : escaped.substr(0, 1);
            escaped.remove_prefix(is_known ? found->first.size() : 1);
        }
        return plain_ += escaped;
    }

    string_view rest_;
    Builder& builder_;
    std::string plain_, end_;
    std::size_t foreign_ = 0;  // open tags within svg or math, which come from another world
    bool is_full_ = false;
};

}  // namespace lookalike
