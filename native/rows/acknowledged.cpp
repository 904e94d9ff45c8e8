#include "rows/acknowledged.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/checksum.hpp"

namespace lookalike {
namespace {

// Two halves, written in turn: each a magic, the id, the number of changes, the chain, and a checksum of these.
constexpr std::size_t kHalf = 512, kId = 8, kIdBytes = 32, kChanges = 40, kChain = 48, kChainBytes = 16, kChecksum = 64, kEntry = 72;
constexpr std::string_view kMagic = "LKACKNOW";

std::uint64_t number_at(const char* bytes) {  // of a little-endian machine, as all that is stored
    std::uint64_t found;
    std::memcpy(&found, bytes, sizeof found);
    return found;
}

std::optional<Acknowledged> entry(std::string_view half) {
    if (half.size() < kEntry || !half.starts_with(kMagic)) return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(half.data());
    if (checksum({bytes, kChecksum}) != number_at(half.data() + kChecksum)) return std::nullopt;
    return Acknowledged{std::string(half.substr(kId, kIdBytes)), number_at(half.data() + kChanges), std::string(half.substr(kChain, kChainBytes))};
}

}  // namespace

const Acknowledged* RecordFile::read(const std::string& path) {
    char data[2 * kHalf];
    const ssize_t size = opened(path) ? pread(file_, data, sizeof data, 0) : 0;
    if (size <= 0) return nullptr;
    const std::string_view all(data, static_cast<std::size_t>(size));
    if (all != data_) {
        data_ = all;
        std::optional<Acknowledged> first = entry(all.substr(0, kHalf)), second = entry(all.size() > kHalf ? all.substr(kHalf) : std::string_view());
        last_ = !first || (second && second->changes > first->changes) ? std::move(second) : std::move(first);
    }
    return last_ ? &*last_ : nullptr;
}

bool RecordFile::opened(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return false;
    if (file_ >= 0 && status.st_dev == device_ && status.st_ino == number_) return true;
    close();
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0 || fstat(file_, &status) != 0) return false;
    device_ = status.st_dev;
    number_ = status.st_ino;
    return true;
}

void RecordFile::close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

}  // namespace lookalike
