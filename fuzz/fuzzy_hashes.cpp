// ssdeep and TLSH: what is parsed prints as it was, scores are symmetric, and a hash does not hang on the portions it was fed in.
#include <algorithm>
#include <array>

#include "fuzz.hpp"
#include "sketch/ssdeep.hpp"
#include "sketch/tlsh.hpp"

using namespace lookalike;

namespace {

void check_texts(const std::string& left, const std::string& right) {
    ssdeep::Digest a, b;
    const bool is_a = ssdeep::parse(left, a), is_b = ssdeep::parse(right, b);
    if (is_a) {
        REQUIRE(ssdeep::to_text(a) == left);
        REQUIRE(a.level < ssdeep::kLevels && a.first_size <= ssdeep::kFirstMax && a.second_size <= ssdeep::kSecondMax);
    }
    if (is_a && is_b) {
        const int score = ssdeep::Scorer(a).score(b);
        REQUIRE(score >= 0 && score <= 100 && score == ssdeep::Scorer(b).score(a));
    }
    tlsh::Record c, d;
    const bool is_c = tlsh::parse(left, c), is_d = tlsh::parse(right, d);
    if (is_c) REQUIRE(tlsh::to_text(c) == left);
    if (!is_c || !is_d) return;
    std::int32_t there, back, self;
    tlsh::distances(c.data(), d.data(), 1, true, &there);
    tlsh::distances(d.data(), c.data(), 1, true, &back);
    tlsh::distances(c.data(), c.data(), 1, true, &self);
    REQUIRE(there == back && there >= 0 && self == 0);
}

void check_input(fuzz::Feed& feed) {
    std::vector<std::size_t> cuts;
    for (std::size_t left = fuzz::number(feed, 0, 6); left > 0; --left) cuts.push_back(fuzz::number(feed, 0, 600));
    const std::size_t repeated = fuzz::number(feed, 1, 60);
    const std::vector<std::uint8_t> seed = feed.ConsumeRemainingBytes<std::uint8_t>();
    std::vector<std::uint8_t> input;
    // Few are long: each has a block size of its own, and takes as much longer.
    const std::size_t most = repeated == 60 ? 20000 : 1500;
    for (std::size_t i = 0; i < repeated && input.size() < most; ++i) {
        input.insert(input.end(), seed.begin(), seed.end());
        if (!input.empty()) input[i * 7 % input.size()] ^= static_cast<std::uint8_t>(i);
    }
    ssdeep::State ssdeep_state;
    tlsh::State tlsh_state;
    std::size_t done = 0;
    for (const std::size_t cut : cuts) {
        const std::size_t portion = std::min(cut, input.size() - done);
        ssdeep_state.update(input.data() + done, portion);
        tlsh_state.update(input.data() + done, portion);
        done += portion;
    }
    ssdeep_state.update(input.data() + done, input.size() - done);
    tlsh_state.update(input.data() + done, input.size() - done);
    const ssdeep::Digest whole = ssdeep::hash(input.data(), input.size());
    const std::string text = ssdeep::to_text(whole);
    REQUIRE(ssdeep::to_text(ssdeep_state.digest()) == text);
    ssdeep::Digest again;
    REQUIRE(ssdeep::parse(text, again) && ssdeep::to_text(again) == text);
    tlsh::Record record, in_portions;
    const tlsh::Status status = tlsh::hash(input.data(), input.size(), record);
    REQUIRE(status == tlsh_state.digest(in_portions));
    if (status == tlsh::Status::ok) REQUIRE(record == in_portions && tlsh::parse(tlsh::to_text(record), in_portions) && record == in_portions);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size && data[0] == '#') {
        fuzz::Feed feed(data + 1, size - 1);
        check_input(feed);
        return 0;
    }
    const std::string whole(reinterpret_cast<const char*>(data), size);
    const std::size_t middle = std::min(whole.find('\n'), whole.size());
    check_texts(whole.substr(0, middle), whole.substr(std::min(middle + 1, whole.size())));
    return 0;
}
