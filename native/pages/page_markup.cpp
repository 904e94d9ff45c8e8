#include "pages/page_markup.hpp"

#include "pages/page_reader.hpp"

namespace lookalike {

std::optional<PageTree> read_markup(std::string_view markup, std::size_t most) {
    PageBuilder builder(most);
    if (!MarkupReader(markup, builder).run()) return std::nullopt;
    return builder.finish();
}

}  // namespace lookalike
