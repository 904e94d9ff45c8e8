// Python's view of pages: which tag is which.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "bind.hpp"
#include "tag_alignment.hpp"

namespace lookalike {
namespace {

using Numbers = Input<std::uint32_t>;

void check_rows(const Numbers& page, std::size_t tags) {
    for (const std::uint32_t row : view(page)) {
        if (row >= tags) throw nb::value_error("left, right: a number beyond the table of tags");
    }
}

// Pairs of positions, left and right. names and flags have one entry a distinct tag, attributes (a word a line) and strings one text.
std::pair<Output<std::uint32_t>, Output<std::uint32_t>> align_tags_(Numbers left, Numbers right, Numbers names, Bytes flags, Bytes attributes,
                                                                   Offsets attribute_offsets, Bytes strings, Offsets string_offsets, double name_weight,
                                                                   double attribute_weight, double string_weight) {
    const Batch<std::uint8_t> words(attributes, attribute_offsets), texts(strings, string_offsets);
    const std::size_t count = names.size();
    if (flags.size() != count || words.count() != count || texts.count() != count) {
        throw nb::value_error("names, flags, attributes, strings: expected one a tag");
    }
    check_rows(left, count);
    check_rows(right, count);
    if (left.size() && right.size() > kMaxAlignmentCells / left.size()) throw nb::value_error("left, right: too many tags for one table");
    const TagWeights weights{name_weight, attribute_weight, string_weight};
    for (const double weight : {name_weight, attribute_weight, string_weight}) {
        if (!std::isfinite(weight) || weight < 0) throw nb::value_error("weights: expected finite numbers of 0 or more");
    }
    if (!(name_weight + attribute_weight + string_weight > 0)) throw nb::value_error("weights: at least one must be above 0");
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

// Hashes of the distinct paths of tag names, ascending. Tags come in document order, each with its parent, which are told apart by
// identity; a parent that is no tag before it begins a new path.
Output<std::uint64_t> path_hashes(nb::list tags, nb::list parents, nb::list names) {
    const std::size_t count = tags.size();
    if (parents.size() != count || names.size() != count) throw nb::value_error("parents, names: expected one a tag");
    std::unordered_map<const PyObject*, std::uint64_t> paths;
    paths.reserve(count);
    std::vector<std::uint64_t> hashes;
    hashes.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        Py_ssize_t size = 0;
        const nb::object text = names[i];
        const char* name = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (name == nullptr) throw nb::python_error();
        const auto above = paths.find(nb::object(parents[i]).ptr());
        const std::uint64_t start = above == paths.end() ? 0 : std::rotl(above->second, kShingleRotation);
        const std::uint64_t hash = mix(start ^ token_hash(reinterpret_cast<const std::uint8_t*>(name), static_cast<std::size_t>(size)));
        paths.emplace(nb::object(tags[i]).ptr(), hash);
        hashes.push_back(hash);
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    return give(std::move(hashes));
}

}  // namespace
}  // namespace lookalike

void bind_pages(nb::module_& m) {
    using namespace lookalike;
    using namespace nb::literals;
    m.def("path_hashes", &path_hashes, "tags"_a, "parents"_a, "names"_a);
    m.def("align_tags", &align_tags_, "left"_a.noconvert(), "right"_a.noconvert(), "names"_a.noconvert(), "flags"_a.noconvert(),
          "attributes"_a.noconvert(), "attribute_offsets"_a.noconvert(), "strings"_a.noconvert(), "string_offsets"_a.noconvert(), "name_weight"_a,
          "attribute_weight"_a, "string_weight"_a);
}
