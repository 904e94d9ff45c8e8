// TLSH, after J. Oliver, C. Cheng and Y. Chen, "TLSH: a locality sensitive hash" (2013): 128 buckets, a checksum of one
// byte, digests of version 1. Digests and distances equal those of the tlsh library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lookalike::tlsh {

inline constexpr int kRecordSize = 35;
inline constexpr std::uint64_t kMinSize = 50;
inline constexpr std::uint64_t kMaxSize = 4'224'281'216;  // the last length that has a code

// The bytes of a digest, in the order in which its hexadecimal digits are printed: the checksum, the length's code, the
// ratios of the quartiles, and from kHeaderSize on the buckets' quarters.
using Record = std::array<std::uint8_t, kRecordSize>;
inline constexpr int kHeaderSize = 3;

enum class Status : std::uint8_t { ok, too_short, too_uniform, too_long };

// Takes the input in portions of any size.
class State {
   public:
    void update(const std::uint8_t* data, std::size_t size);
    std::uint64_t size() const { return size_; }
    // Fills the record only where the status is ok.
    Status digest(Record& record) const;

   private:
    static constexpr int kBefore = 4;  // bytes in front of the current one in the window of 5

    void count(const std::uint8_t* data, std::size_t size);

    // Counts by the bucket's number before its last step. Triplets take turns with the rows, so that one increment
    // seldom waits for another.
    std::array<std::array<std::uint32_t, 256>, 2> counts_{};
    std::array<std::uint8_t, kBefore> recent_{};  // the last bytes, oldest first
    std::uint8_t checksum_ = 0;
    std::uint64_t size_ = 0;
};

Status hash(const std::uint8_t* data, std::size_t size, Record& record);

std::string to_text(const Record& record);
// False where the text is not T1 and 70 upper-case hexadecimal digits.
bool parse(std::string_view text, Record& record);

// What the second and the third byte of two records add to their distance. A checksum that differs adds 1.
int length_distance(std::uint8_t left, std::uint8_t right);
int ratios_distance(std::uint8_t left, std::uint8_t right);

// The distance of one record to each of `count` records that lie one behind the other.
void distances(const std::uint8_t* record, const std::uint8_t* others, std::size_t count, bool with_length, std::int32_t* out);

}  // namespace lookalike::tlsh
