// The record of what was acknowledged, as stores/embedded/acknowledged.py writes it and docs/format.md defines it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/platform.hpp"

namespace lookalike {

// The last entry of the record.
struct Acknowledged {
    std::string store;  // its id
    std::uint64_t changes;
    std::string chain;

    // Whether a state of the database, read after this, has all that was acknowledged. It may be ahead.
    bool is_in(std::string_view its_store, std::uint64_t its_changes, std::string_view its_chain, std::string_view its_chain_before) const {
        if (its_store != store || its_changes < changes) return false;
        if (its_changes == changes) return its_chain == chain;
        return its_changes != changes + 1 || its_chain_before == chain;
    }
};

// Nothing where there is no file, or nothing whole in it.
std::optional<Acknowledged> read_acknowledged(const std::string& path);

}  // namespace lookalike
