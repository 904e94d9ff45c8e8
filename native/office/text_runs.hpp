// The XML of Word and PowerPoint without elements that need no parser to be understood.
#pragma once

#include <string>
#include <string_view>

namespace lookalike {

// Cuts out blocks `w:rPr` and `w:pPr` that say nothing but how the text looks, and what lies between two runs of text: all of it where they are of one
// paragraph, and `between` in its place where the second begins the next. The piece begins and ends between tags, and has no comments and no CDATA.
std::string join_text_runs(std::string_view xml, std::string_view between);

}  // namespace lookalike
