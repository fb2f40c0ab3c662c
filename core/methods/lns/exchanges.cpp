#include "core/methods/lns/exchanges.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/methods/lns/incremental.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns {
namespace {

/// Costs in the first list, and by how much the next one is longer, in halves; exchanges without a better cost, of its length, that end a
/// descent; exchanges by which the height of a list is measured.
constexpr std::int64_t shortest = 500, longest = 64'000, growth = 3, patience = 10, samples = 64;

/// [group] free variables, by number, that one constraint wants to be different; each is in one group.
std::vector<std::vector<std::int32_t>> groups_of(const cp::Problem& problem) {
  const cp::FreeVariablesView free = problem.free_variables();
  const cp::EvaluationView view = problem.evaluation().view();
  std::vector<std::int32_t> number(problem.evaluation().slots().size(), -1);
  for (std::int32_t d = 0; d < free.count; ++d) number[static_cast<std::size_t>(free.variables[d].slot)] = d;
  std::vector<std::vector<std::int32_t>> groups;
  for (std::int32_t k = 0; k < view.operations; ++k) {
    if (view.operation[k] != cp::Operation::different || view.use[k] == cp::Use::define) continue;
    std::vector<std::int32_t> group;
    for (auto a = view.argument_begin[k]; a < view.argument_begin[k + 1]; ++a)
      if (std::int32_t& d = number[static_cast<std::size_t>(view.arguments[a])]; d >= 0) group.push_back(std::exchange(d, -1));
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

class Exchanges::Search {
 public:
  Search(const cp::Problem& problem, std::uint64_t seed)
      : free_(problem.free_variables()), model_(&problem.model()), seed_(seed), engine_(problem), groups_(groups_of(problem)) {
    for (const auto& group : groups_) members_ += group.size();
  }

  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t exchanges, std::span<const std::int32_t> best,
                                                 const Interruption& interruption) {
    const std::int64_t known = cost_of(*model_, best);
    best_ = std::min(best_, known);
    std::vector<std::int32_t> found;
    for (; exchanges > 0; --exchanges) {
      if (exchanges % 256 == 0) interruption.check();
      if (idle_ >= patience * length_) begin(best);
      exchange();
      if (cost_ >= best_) continue;
      best_ = cost_;
      found = engine_.values();
    }
    return found;
  }
  [[nodiscard]] bool fruitful() const { return 8 * consistent_ >= exchanges_; }

 private:
  void begin(std::span<const std::int32_t> best) {
    engine_.load(best);
    cost_ = least_ = engine_.cost();
    engine_.remember();
    length_ = length_ == 0 ? shortest : std::min(longest, length_ * growth / 2);
    idle_ = 0;
    // The height: what exchanges that are worse cost on average.
    std::int64_t sum = 0, count = 0;
    for (std::int64_t k = 0; k < samples; ++k) {
      const auto [x, y] = draw();
      if (!swap(x, y)) continue;
      if (const std::int64_t cost = engine_.cost(); cost != inconsistent && cost > cost_) {
        sum += cost - cost_;
        ++count;
      }
      engine_.restore();
    }
    late_.assign(static_cast<std::size_t>(length_), cost_ + (count > 0 ? sum / count : 0));
  }
  void exchange() {
    const auto [x, y] = draw();
    std::int64_t& late = late_[static_cast<std::size_t>(exchanges_ % static_cast<std::uint64_t>(length_))];
    ++idle_;
    if (swap(x, y)) {
      const std::int64_t cost = engine_.cost();
      if (cost != inconsistent) ++consistent_;
      if (cost <= cost_ || cost <= late) {
        cost_ = cost;
        engine_.remember();
      } else {
        engine_.restore();
      }
    }
    late = cost_;
    if (cost_ >= least_) return;
    least_ = cost_;
    idle_ = 0;
  }
  /// Two of a group.
  [[nodiscard]] std::pair<std::int32_t, std::int32_t> draw() {
    ++exchanges_;
    std::size_t k = below(members_, 0), g = 0;
    while (k >= groups_[g].size()) k -= groups_[g++].size();
    const std::size_t other = below(groups_[g].size() - 1, 1);
    return {groups_[g][k], groups_[g][other + (other >= k ? 1 : 0)]};
  }
  /// False: a domain lacks the other's value.
  [[nodiscard]] bool swap(std::int32_t x, std::int32_t y) {
    const std::int32_t a = engine_.get(free_.variables[x].slot), b = engine_.get(free_.variables[y].slot);
    if (!has(x, b) || !has(y, a)) return false;
    engine_.set(free_.variables[x].slot, b);
    engine_.set(free_.variables[y].slot, a);
    return true;
  }
  [[nodiscard]] bool has(std::int32_t d, std::int32_t value) const {
    const std::int64_t number = free_.number_of(d, value);
    return number >= 0 && number < free_.variables[d].size && free_.value(d, number) == value;
  }
  [[nodiscard]] std::size_t below(std::size_t bound, std::uint32_t number) const {
    return static_cast<std::size_t>(scale_to(random_bits(seed_, exchanges_, start_stream + 1, number), bound));
  }

  cp::FreeVariablesView free_;
  const cp::Model* model_;
  std::uint64_t seed_, exchanges_ = 0, consistent_ = 0;
  Incremental<Violations> engine_;
  std::vector<std::vector<std::int32_t>> groups_;
  std::size_t members_ = 0;                                       ///< of all groups
  std::vector<std::int64_t> late_;                                ///< costs, by the exchange modulo the length
  std::int64_t length_ = 0, idle_ = 0;                            ///< of the list; exchanges since the least cost
  std::int64_t cost_ = inconsistent, least_ = inconsistent;       ///< now; of the descent
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();  ///< of all
};

Exchanges::Exchanges(const cp::Problem& problem, std::uint64_t seed) : search_(std::make_unique<Search>(problem, seed)) {}
Exchanges::~Exchanges() = default;

bool Exchanges::fruitful() const { return search_->fruitful(); }
bool Exchanges::possible(const cp::Problem& problem) { return !groups_of(problem).empty(); }

std::vector<std::int32_t> Exchanges::search(std::int64_t exchanges, std::span<const std::int32_t> best, const Interruption& interruption) {
  return search_->search(exchanges, best, interruption);
}

}  // namespace vicinity::lns
