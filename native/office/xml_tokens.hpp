// XML as programs write it into packages, one token after the other. Nothing is understood of what they do not write: comments, CDATA, declarations,
// processing instructions. Whoever meets that takes another reader.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lookalike {

struct XmlAttribute {
    std::string_view name, value;  // as written: references stand for themselves
};

class XmlTokens {
   public:
    enum class Kind { start, end, text, finished, odd };
    static constexpr std::size_t kMaxAttributes = 32, kMaxDepth = 64;

    explicit XmlTokens(std::string_view xml) : xml_(xml) {}

    // The next token. An empty element is a start and an end. From the first odd token on all are odd; the end of another element than the last that
    // started is odd too.
    Kind next();

    std::string_view name() const { return name_; }                                    // of the element that starts or ends, with its prefix
    std::string_view local_name() const { return name_.substr(name_.find(':') + 1); }  // and without it
    std::string_view text() const { return name_; }                                    // as written, at least one character
    std::optional<std::string_view> attribute(std::string_view name) const;

    // After the start of an element: its text, where it is written exactly between `before` and `after`, which ends with the end of the element. The next
    // token is then the one behind it. Most elements are written in few ways, and comparing costs a small part of reading their tokens.
    std::optional<std::string_view> text_between(std::string_view before, std::string_view after);

    // After a start: goes behind the end of the element. False where something odd is in it, or an element that is not `allowed`.
    template <typename Allowed>
    bool skip(Allowed allowed) {
        const std::size_t outside = depth_ - 1;
        while (depth_ > outside) {
            const Kind kind = next();
            if (kind == Kind::odd || kind == Kind::finished || (kind == Kind::start && !allowed(local_name()))) return false;
        }
        return true;
    }

   private:
    Kind odd() {
        place_ = xml_.size();
        is_odd_ = true;
        return Kind::odd;
    }
    bool read_attributes();
    Kind read_end();

    std::string_view xml_, name_;
    std::size_t place_ = 0, attribute_count_ = 0;
    std::array<XmlAttribute, kMaxAttributes> attributes_;
    std::array<std::string_view, kMaxDepth> open_;  // the names of the elements that have started
    std::size_t depth_ = 0;
    bool is_empty_ = false;  // its end comes next
    bool is_odd_ = false;
};

// Appends the text with its references as what they stand for. False for names beyond the five of XML, for white space by number, for carriage returns, which
// parsers change, and for control characters, which XML does not have.
bool append_unescaped(std::string_view text, std::string& out);

}  // namespace lookalike
