// A tree that was written out by a parser, read again. What a parser writes has few forms: it is read at the speed of memory.
#pragma once

#include <optional>
#include <string_view>

#include "pages/page_tree.hpp"

namespace lookalike {

// `markup` is a serialised document as the HTML standard defines it, in UTF-8. Nothing where such a text can mean two trees (scripts in
// scripts, plaintext, foreign elements with the names of certain HTML elements), and where it is no such text at all.
std::optional<PageTree> read_markup(std::string_view markup, std::size_t most);

}  // namespace lookalike
