// The readers of Office files: they read nothing beyond their input, what they write is well-formed, and within bounds.
#include "fuzz.hpp"
#include "office/sheet_text.hpp"
#include "office/text_runs.hpp"

using namespace lookalike;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Exactly the input, so that a byte read beyond it is seen: the shared texts, then the sheet.
    const std::vector<char> whole(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(data) + size);
    const std::string_view text(whole.data(), whole.size());
    const std::size_t cut = std::min(text.find('\xff'), text.size());
    const std::vector<char> first(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut));
    const std::vector<char> second(text.begin() + static_cast<std::ptrdiff_t>(std::min(cut + 1, text.size())), text.end());
    SharedTexts shared;
    if (!shared.read({first.data(), first.size()})) shared = SharedTexts();
    for (std::size_t i = 0; i < shared.size(); ++i) REQUIRE(fuzz::code_points(fuzz::bytes_of(std::string(shared[i]))) >= 0);
    constexpr std::uint8_t kPlain[] = {1, 0, 1};
    constexpr SheetBounds kMost{10'000, 100'000};
    if (const auto found = sheet_text({second.data(), second.size()}, shared, kPlain, kMost)) {
        REQUIRE(fuzz::code_points(fuzz::bytes_of(*found)) >= 0);
        REQUIRE(found->size() <= kMost.bytes + kMost.cells + size);
        REQUIRE(found->empty() || (found->back() != '\t' && found->back() != '\n') || found->find_first_not_of("\t\n") != std::string::npos);
    }
    const std::string joined = join_text_runs({second.data(), second.size()}, "\n");
    REQUIRE(joined.size() <= second.size());
    std::string number;
    if (append_number({second.data(), second.size()}, number)) REQUIRE(!number.empty() && number.size() <= 32);
    return 0;
}
