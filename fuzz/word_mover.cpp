// Transport: a plan ships all of every supply, costs the same both ways, and no less than the bounds below it.
#include <algorithm>
#include <cmath>

#include "fuzz.hpp"
#include "word_mover/word_mover.hpp"

using namespace lookalike;

namespace {

void check_plan(fuzz::Feed& feed) {
    std::vector<std::uint64_t> supplies(fuzz::number(feed, 1, 7)), demands(fuzz::number(feed, 1, 7));
    std::uint64_t supplied = 0, demanded = 0;
    for (std::uint64_t& supply : supplies) supplied += supply = fuzz::number(feed, 1, 1000);
    for (std::uint64_t& demand : demands) demanded += demand = fuzz::number(feed, 1, 1000);
    (supplied < demanded ? supplies.front() : demands.front()) += supplied < demanded ? demanded - supplied : supplied - demanded;
    std::vector<double> costs(supplies.size() * demands.size());
    for (double& cost : costs) cost = feed.ConsumeBool() ? static_cast<double>(fuzz::number(feed, 0, 3)) : feed.ConsumeFloatingPointInRange<double>(0, 1e6);
    Transport transport;
    std::vector<std::uint64_t> sent(supplies.size()), received(demands.size());
    for (const Shipment& shipment : transport.solve(supplies, demands, costs)) {
        REQUIRE(shipment.from < supplies.size() && shipment.to < demands.size() && shipment.amount > 0);
        sent[shipment.from] += shipment.amount;
        received[shipment.to] += shipment.amount;
    }
    REQUIRE(sent == supplies && received == demands);
}

void check_distance(fuzz::Feed& feed) {
    const std::size_t rows = fuzz::number(feed, 1, 7), columns = fuzz::number(feed, 1, 7);
    std::vector<std::uint32_t> left(rows), right(columns);
    for (std::uint32_t& count : left) count = static_cast<std::uint32_t>(fuzz::number(feed, 1, 50));
    for (std::uint32_t& count : right) count = static_cast<std::uint32_t>(fuzz::number(feed, 1, 50));
    std::vector<float> cells(rows * columns);
    for (float& cell : cells) cell = feed.ConsumeBool() ? 0.0F : feed.ConsumeFloatingPointInRange<float>(0, 2);
    const Ground there{cells.data(), columns, 1}, back{cells.data(), 1, columns};
    WordMover mover;
    const double distance = mover.distance(left, right, there), turned = mover.distance(right, left, back);
    REQUIRE(std::isfinite(distance) && distance >= 0 && std::abs(distance - turned) <= 1e-6 * (1 + distance));
    REQUIRE(relaxed_distance(left, right, there) <= distance + 1e-6);
    double share = 0, cost = 0;
    for (const Move& move : mover.moves(left, right, there)) {
        REQUIRE(move.from < rows && move.to < columns && move.share > 0);
        share += move.share;
        cost += move.share * there(move.from, move.to);
    }
    REQUIRE(std::abs(share - 1) <= 1e-9 && std::abs(cost - distance) <= 1e-6 * (1 + distance));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    feed.ConsumeBool() ? check_plan(feed) : check_distance(feed);
    return 0;
}
