#include "text/row_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "text/documents.hpp"

namespace lookalike {

class JsonLinesReader::Open {
   public:
    explicit Open(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0 && errno != ENOENT) throw RowUnreadable(path, errno);
    }
    ~Open() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    const std::string& path() const { return path_; }
    // Whether there are so many bytes.
    bool read(std::uint64_t begin, std::span<std::uint8_t> out) const {
        std::size_t done = 0;
        while (done < out.size() && descriptor_ >= 0) {
            const ssize_t count = pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(begin + done));
            if (count == 0) return false;
            if (count > 0) done += static_cast<std::size_t>(count);
            if (count < 0 && errno != EINTR) throw RowUnreadable(path_, errno);
        }
        return descriptor_ >= 0;
    }

   private:
    std::string path_;
    int descriptor_;
};

const JsonLinesReader::Open& JsonLinesReader::opened(const std::string& path) {
    auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each->path() == path; });
    if (found == open_.end()) {
        if (open_.size() == kMostOpen) open_.pop_back();
        found = open_.insert(open_.end(), std::make_shared<Open>(path));
    }
    std::rotate(open_.begin(), found, found + 1);
    return *open_.front();
}

TokenDigest JsonLinesReader::read(const RowFile& file, std::uint64_t begin, std::size_t size, std::vector<std::uint64_t>& features) {
    features.clear();
    line_.resize(size);
    if (!opened(file.path).read(begin, line_)) return kNothing;
    scan_json_lines(line_, file.columns, rows_);
    if (rows_.problems.size() != 1 || rows_.problems[0] != static_cast<std::uint8_t>(RowProblem::none)) return kNothing;
    shingler_.run(rows_.text, [&](const std::uint64_t*, const std::uint64_t* made, std::size_t count) { features.insert(features.end(), made, made + count); });
    const TokenDigest digest = sequence_digest(features);
    features.resize(set_.make_distinct(features.data(), features.size()));
    if (size > kMostHeld) line_ = {}, rows_ = {};
    return digest;
}

}  // namespace lookalike
