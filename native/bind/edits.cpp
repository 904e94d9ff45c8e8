// Python's view of what became of the tokens of a text.
#include "edits/edited_tokens.hpp"

#include "bind/bind.hpp"

namespace lookalike {
namespace {

// The tokens of one side, as Python has them, checked.
struct SideColumns {
    Hashes hashes;
    Input<std::uint32_t> starts, ends;
    Bytes traits;

    TokenSide side() const {
        const std::size_t count = hashes.size();
        if (count > kMaxText) throw std::invalid_argument("a text of more than 4 Gi tokens: split it");
        if (starts.size() != count || ends.size() != count) throw std::invalid_argument("starts, ends: expected as many as tokens");
        if (traits.size() != count + 1) throw std::invalid_argument("traits: expected one more than tokens");
        if (!(traits.data()[0] & kLine) || !(traits.data()[count] & kLine))
            throw std::invalid_argument("traits: a line begins with the first token, and with the end");
        for (std::size_t i = 0; i < count; ++i) {
            if (ends.data()[i] < starts.data()[i]) throw std::invalid_argument("ends: a token ends before it starts");
        }
        return {view(hashes), view(starts), view(ends), view(traits)};
    }

    nb::tuple span(const Stretch& stretch) const { return nb::make_tuple(starts.data()[stretch.first], ends.data()[stretch.last - 1]); }

    // Without what lies between tokens.
    std::uint64_t characters(const Stretch& stretch) const {
        std::uint64_t sum = 0;
        for (std::uint32_t token = stretch.first; token < stretch.last; ++token) sum += ends.data()[token] - starts.data()[token];
        return sum;
    }
};

using Columns = std::tuple<Hashes, Input<std::uint32_t>, Input<std::uint32_t>, Bytes>;

class Edited {
   public:
    Edited(const Columns& left, const Columns& right) : left_(std::make_from_tuple<SideColumns>(left)), right_(std::make_from_tuple<SideColumns>(right)) {
        nb::gil_scoped_release release;
        const TokenSide a = left_.side(), b = right_.side();
        found_.emplace(a, b);
    }

    // Sentences of which similar words decide: the characters that were kept, those that were not, and the tokens of each gap.
    nb::list doubtful() const {
        nb::list sentences;
        for (const DoubtfulSentence& each : found_->doubtful()) sentences.append(nb::make_tuple(each.same, each.longer, each.replaced));
        return sentences;
    }

    // The name of the kind, span and partner of the segments of both sides, and the characters of each kind on both.
    nb::tuple segments(const std::vector<bool>& recognisable, nb::tuple names) const {
        if (names.size() != kEditKinds) throw nb::value_error("names: expected one for each kind");
        if (recognisable.size() != found_->doubtful().size()) throw nb::value_error("recognisable: expected one for each doubtful sentence");
        const auto [left, right] = found_->segments(recognisable);
        return nb::make_tuple(rows(left, left_, right_, names), rows(right, right_, left_, names), counted(left, left_), counted(right, right_));
    }

   private:
    static nb::list rows(const std::vector<EditSegment>& segments, const SideColumns& here, const SideColumns& there, const nb::tuple& names) {
        nb::list found;
        for (const EditSegment& each : segments) {
            const nb::object partner = each.has_partner ? nb::object(there.span(each.partner)) : nb::none();
            found.append(nb::make_tuple(names[static_cast<std::size_t>(each.kind)], here.span(each.tokens), partner));
        }
        return found;
    }

    static std::vector<std::uint64_t> counted(const std::vector<EditSegment>& segments, const SideColumns& here) {
        std::vector<std::uint64_t> counts(kEditKinds);
        for (const EditSegment& each : segments) counts[static_cast<std::size_t>(each.kind)] += here.characters(each.tokens);
        return counts;
    }

    SideColumns left_, right_;
    std::optional<EditedTokens> found_;
};

}  // namespace

void bind_edits(nb::module_& m) {
    nb::class_<Edited>(m, "EditedTokens")
        .def(nb::init<const Columns&, const Columns&>(), "left"_a.noconvert(), "right"_a.noconvert())
        .def("doubtful", &Edited::doubtful)
        .def("segments", &Edited::segments, "recognisable"_a, "names"_a);
}

}  // namespace lookalike
