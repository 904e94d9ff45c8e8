// What the fingerprints of a page are made of: its distinct paths of tag names, and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pages/page_tree.hpp"

namespace lookalike {

struct PageOutline {
    std::vector<std::uint64_t> paths;  // hashes, ascending: mix(the parent's, rotated by 13, xor the hash of the name)
    std::string text;                  // texts with a line break between them
};

// `markup` is as read_markup takes it, and gives nothing where that does. The text is what stands in none of the elements named in
// `left_out`; where it is blank, what stands in none of those in `unseen`. Names stand with spaces between them.
std::optional<PageOutline> read_outline(std::string_view markup, std::string_view left_out, std::string_view unseen);

// The same hashes, from a table.
std::vector<std::uint64_t> path_hashes(const PageTree& tree);

}  // namespace lookalike
