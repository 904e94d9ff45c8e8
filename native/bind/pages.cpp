// Python's view of pages: their tables, and which tag is which.
#include <algorithm>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bind/bind.hpp"
#include "pages/page_markup.hpp"
#include "pages/page_outline.hpp"
#include "pages/tag_matching.hpp"

namespace lookalike {
namespace {

using Numbers = Input<std::uint32_t>;

void check_rows(const Numbers& page, std::size_t tags) {
    for (const std::uint32_t row : view(page)) {
        if (row >= tags) throw nb::value_error("left, right: a number beyond the table of tags");
    }
}

TagWeights check_tag_weights(double name, double attributes, double string) {
    for (const double weight : {name, attributes, string}) {
        if (!std::isfinite(weight) || weight < 0) throw nb::value_error("weights: expected finite numbers of 0 or more");
    }
    if (!(name + attributes + string > 0)) throw nb::value_error("weights: at least one must be above 0");
    return {name, attributes, string};
}

// Pairs of positions, left and right. names and flags have one entry a distinct tag, attributes (a word a line) and strings one text.
std::pair<Output<std::uint32_t>, Output<std::uint32_t>> align_tags_(Numbers left, Numbers right, Numbers names, Bytes flags, Bytes attributes,
                                                                    Offsets attribute_offsets, Bytes strings, Offsets string_offsets, double name_weight,
                                                                    double attribute_weight, double string_weight) {
    const Batch<std::uint8_t> words(attributes, attribute_offsets), texts(strings, string_offsets);
    const std::size_t count = names.size();
    if (flags.size() != count || words.count() != count || texts.count() != count) {
        throw nb::value_error("names, flags, attributes, strings: expected one per tag");
    }
    check_rows(left, count);
    check_rows(right, count);
    if (left.size() && right.size() > kMaxAlignmentCells / left.size()) throw nb::value_error("left, right: too many tags for one table");
    const TagWeights weights = check_tag_weights(name_weight, attribute_weight, string_weight);
    std::vector<std::uint32_t> at_left, at_right;
    {
        nb::gil_scoped_release release;
        TagTable tags;
        tags.names.assign(names.data(), names.data() + count);
        tags.flags.assign(flags.data(), flags.data() + count);
        for (std::size_t i = 0; i < count; ++i) {
            tags.attributes.push_back(sign_words(words[i]));
            tags.strings.push_back(sign_string(texts[i]));
        }
        for (const auto& [a, b] : align_tags(view(left), view(right), tags, weights)) {
            at_left.push_back(a);
            at_right.push_back(b);
        }
    }
    return {give(std::move(at_left)), give(std::move(at_right))};
}

// The bytes of a str, as long as it lives.
std::string_view utf8(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// Events come as turbohtml gives them: a name and pairs of keys and values, None for an attribute without a value.
void start_element(PageBuilder& builder, nb::str name, nb::tuple attributes) {
    if (!builder.start(utf8(name))) throw nb::stop_iteration("too many tags");
    for (const nb::handle attribute : attributes) {
        const auto pair = nb::cast<nb::tuple>(attribute);
        if (pair.size() != 2) throw nb::value_error("attributes: expected pairs");
        const nb::object key = pair[0], value = pair[1];
        builder.attribute(utf8(key), value.is_none() ? std::string_view() : utf8(value));
    }
}

// (name, attributes, string, depth, parent) for every tag and text; a parent is a place in this list, -1 for none.
nb::list page_rows(const PageTree& tree) {
    std::vector<nb::object> made(tree.strings.size());
    const auto text = [&](std::uint32_t number) -> nb::object& {
        nb::object& known = made[number];
        if (!known.is_valid()) known = nb::str(tree.strings[number].data(), tree.strings[number].size());
        return known;
    };
    nb::list rows;
    for (const PageTree::Tag& tag : tree.tags) {
        nb::dict attributes;
        for (std::uint32_t i = 0; i < tag.attribute_count; ++i) {
            const PageTree::Attribute& own = tree.attributes[tag.attributes + i];
            if (own.is_list) {
                nb::list words;
                for_each_word(tree.strings[own.value], [&](std::string_view word) { words.append(nb::str(word.data(), word.size())); });
                attributes[text(own.key)] = words;
            } else {
                attributes[text(own.key)] = text(own.value);
            }
        }
        const nb::object string = tag.string == PageTree::kNone ? nb::none() : text(tag.string);
        rows.append(nb::make_tuple(text(tag.name), attributes, string, tag.depth, tag.parent == PageTree::kNone ? -1 : static_cast<std::int64_t>(tag.parent)));
    }
    return rows;
}

// The text of the first title in the head that has one: objects for all rows would take longer than parsing.
nb::str page_title(const PageTree& tree) {
    for (const std::uint32_t place : tree.head) {
        const PageTree::Tag& tag = tree.tags[place];
        if (tag.string == PageTree::kNone || tree.strings[tag.string].empty() || tree.strings[tag.name] != "title") continue;
        return nb::str(tree.strings[tag.string].data(), tree.strings[tag.string].size());
    }
    return nb::str("");
}

nb::tuple give_match(Matched&& matched) {
    std::vector<std::uint32_t> left, right;
    for (const auto& [i, k] : matched.pairs) {
        left.push_back(i);
        right.push_back(k);
    }
    return nb::make_tuple(give(std::move(left)), give(std::move(right)), give(std::move(matched.similarities)), matched.too_large);
}

// Pairs of places, their similarities, and whether some stretch was too large: by the best pairing, if that is asked for, and in order, unless
// that is certainly worse.
nb::list match_tags_(const PageTree& left, const PageTree& right, bool body, bool best, double name_weight, double attribute_weight, double string_weight,
                     double key_weight, std::size_t max_cells, std::size_t anchored_from, std::uint64_t max_string_cells) {
    const MatchWeights weights{check_tag_weights(name_weight, attribute_weight, string_weight), key_weight};
    if (!(key_weight >= 0 && key_weight <= 1)) throw nb::value_error("key_weight: choose 0 to 1");
    if (max_cells > kMaxAlignmentCells) throw nb::value_error("max_cells: too many for one table");
    std::vector<Matched> found;
    {
        nb::gil_scoped_release release;
        TagMatcher matcher(left, right, body, weights, {max_cells, anchored_from, max_string_cells});
        if (best) found.push_back(matcher.best());
        if (!best || !matcher.is_above_order(found.front())) found.push_back(matcher.in_order());
    }
    nb::list out;
    for (Matched& matched : found) out.append(give_match(std::move(matched)));
    return out;
}

// Hashes of the distinct paths, ascending, and the text in UTF-8; None where the markup can mean two trees.
nb::object read_outline_(nb::str markup, nb::str left_out, nb::str unseen) {
    const std::string_view text = utf8(markup), names = utf8(left_out), further = utf8(unseen);
    std::optional<PageOutline> found;
    {
        nb::gil_scoped_release release;
        found = read_outline(text, names, further);
    }
    if (!found) return nb::none();
    return nb::make_tuple(give(std::move(found->paths)), nb::bytes(found->text.data(), found->text.size()));
}

// How many signs "<" there are, and how many of them begin a tag html or body.
std::pair<std::size_t, std::size_t> count_markup(nb::str html) {
    const std::string_view text = utf8(html);
    const auto is_root = [&](std::size_t place) {
        std::uint32_t word = 0;
        if (text.size() - place < 5) return false;
        std::memcpy(&word, text.data() + place + 1, 4);
        word |= 0x20202020U;                                // small letters
        return word == 0x6C6D7468U || word == 0x79646F62U;  // "html", "body"
    };
    std::size_t signs = 0, roots = 0;
    for (std::size_t place = text.find('<'); place != std::string_view::npos; place = text.find('<', place + 1)) {
        ++signs;
        roots += is_root(place);
    }
    return {signs, roots};
}

}  // namespace

void bind_pages(nb::module_& m) {
    nb::class_<PageTree>(m, "PageTree")
        .def("__len__", [](const PageTree& tree) { return tree.tags.size(); })
        .def_ro("depth", &PageTree::depth)
        .def_ro("is_cut", &PageTree::is_cut)
        .def("rows", &page_rows)
        .def("title", &page_title)
        .def("paths", [](const PageTree& tree) { return give(path_hashes(tree)); })
        .def("head", [](const PageTree& tree) { return give(std::vector(tree.head)); })
        .def("body", [](const PageTree& tree) { return give(std::vector(tree.body)); })
        .def_prop_ro("head_size", [](const PageTree& tree) { return tree.head.size(); })
        .def_prop_ro("body_size", [](const PageTree& tree) { return tree.body.size(); });
    nb::class_<PageBuilder>(m, "PageBuilder")
        .def(nb::init<std::size_t>(), "most"_a)
        .def("start_element", &start_element)
        .def("end_element", [](PageBuilder& builder, nb::handle) { builder.end(); })
        .def("characters", [](PageBuilder& builder, nb::str text) { builder.characters(utf8(text)); })
        .def("comment", [](PageBuilder&, nb::args) {})
        .def("doctype", [](PageBuilder&, nb::args) {})
        .def("processing_instruction", [](PageBuilder&, nb::args) {})
        .def("finish", &PageBuilder::finish);
    m.def(
        "read_markup",
        [](nb::str markup, std::size_t most) {
            const std::string_view text = utf8(markup);
            nb::gil_scoped_release release;
            return read_markup(text, most);
        },
        "markup"_a, "most"_a);
    m.def("read_outline", &read_outline_, "markup"_a, "left_out"_a, "unseen"_a);
    m.def("count_markup", &count_markup, "html"_a);
    m.def("match_tags", &match_tags_, "left"_a, "right"_a, "body"_a, "best"_a, "name_weight"_a, "attribute_weight"_a, "string_weight"_a, "key_weight"_a,
          "max_cells"_a, "anchored_from"_a, "max_string_cells"_a);
    m.def("align_tags", &align_tags_, "left"_a.noconvert(), "right"_a.noconvert(), "names"_a.noconvert(), "flags"_a.noconvert(), "attributes"_a.noconvert(),
          "attribute_offsets"_a.noconvert(), "strings"_a.noconvert(), "string_offsets"_a.noconvert(), "name_weight"_a, "attribute_weight"_a, "string_weight"_a);
}

}  // namespace lookalike
