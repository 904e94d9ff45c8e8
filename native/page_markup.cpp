#include "page_markup.hpp"

#include <algorithm>
#include <iterator>

namespace lookalike {
namespace {

using std::string_view;

constexpr string_view kVoid[] = {"area", "base", "basefont", "bgsound", "br",   "col",   "embed",  "frame", "hr",
                                 "img",  "input", "keygen",  "link",    "meta", "param", "source", "track", "wbr"};
constexpr string_view kRaw[] = {"script", "style", "xmp", "iframe", "noembed", "noframes"};
constexpr string_view kLinesFirst[] = {"pre", "textarea", "listing"};  // a first line break is written twice

template <class Names>
bool is_one_of(string_view name, const Names& names) {
    return std::ranges::find(names, name) != std::end(names);
}

class Reader {
   public:
    Reader(string_view markup, std::size_t most) : rest_(markup), builder_(most) {}

    std::optional<PageTree> run() {
        while (!rest_.empty()) {
            if (rest_.front() != '<') {
                builder_.characters(plain(until("<")));
            } else if (!markup()) {
                return std::nullopt;
            } else if (is_full_) {
                break;
            }
        }
        return builder_.finish();
    }

   private:
    // Everything before the mark, which stays; everything there is, where it is missing.
    string_view until(string_view mark) {
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

    bool skip_beyond(string_view mark) {
        until(mark);
        return skip(mark);
    }

    bool markup() {
        if (skip("<!--")) return skip_beyond("-->");
        if (skip("<!") || skip("<?")) return skip_beyond(">");
        if (skip("</")) {
            if (foreign_) --foreign_;
            builder_.end();
            return skip_beyond(">");
        }
        return start();
    }

    bool start() {
        rest_.remove_prefix(1);
        const std::size_t end = rest_.find_first_of(" >");
        if (end == 0 || end == string_view::npos) return false;
        const string_view name = rest_.substr(0, end);
        rest_.remove_prefix(end);
        is_full_ = !builder_.start(name);
        if (is_full_) return true;
        while (skip(" ")) {
            if (!attribute()) return false;
        }
        if (!skip(">")) return false;
        return content(name);
    }

    bool attribute() {
        const std::size_t end = rest_.find('=', 1);  // a name may begin with "="
        if (end == string_view::npos) return false;
        const string_view key = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!skip("\"")) return false;
        builder_.attribute(key, plain(until("\"")));
        return skip("\"");
    }

    bool content(string_view name) {
        const bool is_void = is_one_of(name, kVoid), is_raw = is_one_of(name, kRaw), lines_first = is_one_of(name, kLinesFirst);
        if (name == "plaintext") return false;
        if (foreign_ || name == "svg" || name == "math") {
            ++foreign_;
            return !is_void && !is_raw && !lines_first;
        }
        if (is_void) builder_.end();
        if (lines_first) skip("\n");
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
    PageBuilder builder_;
    std::string plain_, end_;
    std::size_t foreign_ = 0;  // open tags within svg or math, which come from another world
    bool is_full_ = false;
};

}  // namespace

std::optional<PageTree> read_markup(string_view markup, std::size_t most) { return Reader(markup, most).run(); }

}  // namespace lookalike
