#include "office/text_runs.hpp"

#include <algorithm>
#include <array>

namespace lookalike {
namespace {

// How a run or a paragraph looks: two of three elements in what Word writes.
constexpr auto kLooks = std::to_array<std::string_view>(
    {"b",    "bCs",  "color",     "contextualSpacing", "highlight", "i",      "iCs",    "ind", "jc",         "keepLines", "keepNext",
     "kern", "lang", "noProof",   "outlineLvl",        "pStyle",    "rFonts", "rStyle", "shd", "snapToGrid", "spacing",   "sz",
     "szCs", "u",    "vertAlign", "widowControl"});

// A place in the text that moves on over what it finds, and stays where it finds something else.
class Taker {
   public:
    explicit Taker(std::string_view rest) : rest_(rest) {}
    std::string_view rest() const { return rest_; }

    bool take(std::string_view wanted) {
        if (!rest_.starts_with(wanted)) return false;
        rest_.remove_prefix(wanted.size());
        return true;
    }
    // <w:name/> or <w:name …/> that says how something looks.
    bool take_look() {
        if (!rest_.starts_with("<w:")) return false;
        const std::size_t end = rest_.find_first_of("<>", 1);
        if (end == std::string_view::npos || rest_[end] != '>' || rest_[end - 1] != '/') return false;
        const std::string_view inside = rest_.substr(3, end - 4);
        if (std::ranges::find(kLooks, inside.substr(0, inside.find(' '))) == kLooks.end()) return false;
        rest_.remove_prefix(end + 1);
        return true;
    }
    // <prefix:name with attributes, up to what ends the tag.
    bool take_tag(char prefix, std::string_view name) {
        if (rest_.size() < 3 + name.size() || rest_[0] != '<' || rest_[1] != prefix || rest_[2] != ':' || !rest_.substr(3).starts_with(name)) return false;
        rest_.remove_prefix(3 + name.size());
        while (take_attribute()) {}
        return true;
    }

   private:
    static bool is_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '.' || c == '-';
    }
    bool take_attribute() {
        std::size_t at = 1;
        if (rest_.empty() || rest_[0] != ' ') return false;
        while (at < rest_.size() && is_name(rest_[at])) ++at;
        if (at == 1 || !rest_.substr(at).starts_with("=\"")) return false;
        const std::size_t end = rest_.find_first_of("\"<>", at + 2);
        if (end == std::string_view::npos || rest_[end] != '"') return false;
        rest_.remove_prefix(end + 1);
        return true;
    }

    std::string_view rest_;
};

std::string without_looks(std::string_view xml) {
    std::string out;
    out.reserve(xml.size());
    std::size_t kept = 0;
    for (std::size_t at = xml.find("<w:"); at != std::string_view::npos;) {
        Taker taker(xml.substr(at));
        const bool is_run = taker.take("<w:rPr>");
        if (is_run || taker.take("<w:pPr>")) {
            while (taker.take_look()) {}
            if (taker.take(is_run ? "</w:rPr>" : "</w:pPr>")) {
                out.append(xml, kept, at - kept);
                kept = at = xml.size() - taker.rest().size();
                at = xml.find("<w:", at);
                continue;
            }
        }
        at = xml.find("<w:", at + 3);
    }
    return out.append(xml, kept);
}

// The beginning of a run up to its text.
bool take_run(Taker& taker, char prefix) {
    if (!taker.take_tag(prefix, "r") || !taker.take(">")) return false;
    Taker look = taker;
    if (look.take_tag(prefix, "rPr") && look.take("/>")) taker = look;
    return taker.take_tag(prefix, "t") && taker.take(">");
}

std::string joined(std::string xml, char prefix, std::string_view between) {
    const std::string name{prefix, ':'};
    const std::string run_end = "</" + name + "t></" + name + "r>", paragraph_end = "</" + name + "p>";
    const std::string_view text = xml;
    std::size_t at = text.find(run_end);
    if (at == std::string_view::npos) return xml;
    std::string out;
    out.reserve(text.size());
    std::size_t kept = 0;
    while (at != std::string_view::npos) {
        const std::size_t behind = at + run_end.size();
        Taker taker(text.substr(behind));
        const bool is_next = taker.take(paragraph_end);
        if ((!is_next || (taker.take_tag(prefix, "p") && taker.take(">"))) && take_run(taker, prefix)) {
            out.append(text, kept, at - kept);
            if (is_next) out.append(between);
            kept = text.size() - taker.rest().size();
            at = text.find(run_end, kept);
        } else {
            at = text.find(run_end, behind);
        }
    }
    return out.append(text, kept);
}

}  // namespace

std::string join_text_runs(std::string_view xml, std::string_view between) { return joined(joined(without_looks(xml), 'w', between), 'a', between); }

}  // namespace lookalike
