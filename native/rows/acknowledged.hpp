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

// The file, which is read by every search: it stays open, and is opened again where another one has its name. For one thread at a time.
class RecordFile {
   public:
    RecordFile() = default;
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;
    ~RecordFile() { close(); }

    // Null where there is no file, or nothing whole in it. Valid until the next call.
    const Acknowledged* read(const std::string& path);

   private:
    bool opened(const std::string& path);
    void close();

    int file_ = -1;
    std::uint64_t device_ = 0, number_ = 0;  // of the file
    std::string data_;                       // as it was read the last time, and what it says
    std::optional<Acknowledged> last_;
};

}  // namespace lookalike
