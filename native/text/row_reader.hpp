// Texts of JSON lines that are read once more, for the features of a few of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "sketch/feature_set.hpp"
#include "sketch/leaders.hpp"
#include "text/jsonl.hpp"

namespace lookalike {

class JsonLinesReader : public RowReader {
   public:
    JsonLinesReader(const TextOptions& options, const Secret& secret) : shingler_(options, secret, false) {}

    TokenDigest read(const RowFile& file, std::uint64_t begin, std::size_t size, std::vector<std::uint64_t>& features) override;

   private:
    class Open;
    static constexpr std::size_t kMostOpen = 16;
    static constexpr std::size_t kMostHeld = 1 << 20;  // bytes of a row whose memory is used again

    const Open& opened(const std::string& path);

    // The last ones that were asked for, this moment's first.
    std::vector<std::shared_ptr<const Open>> open_;
    SecretShingler shingler_;
    FeatureSet set_;
    std::vector<std::uint8_t> line_;
    JsonRows rows_;
};

}  // namespace lookalike
