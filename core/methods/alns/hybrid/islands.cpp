#include "core/methods/alns/hybrid/islands.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<WordsOf> words_of(const std::vector<std::vector<std::int64_t>>& ranks) { return {ranks.begin(), ranks.end()}; }

}  // namespace

Islands::Islands(const vrp::Vrp& vrp, std::int32_t lines, std::int32_t removals, std::uint64_t seed, std::optional<Routes> given,
                 bool beside, Team* team)
    : vrp_(vrp.view()),
      team_(team),
      lines_(lines),
      granular_(vrp),
      schedule_(vrp.size(), Pace(vrp.size(), lines, removals)),
      first_island_(first_line() / lines_of_island),
      shared_(false),
      pool_(vrp_),
      beside_(beside) {
  if (given) granular_.routes = std::max(granular_.routes, static_cast<std::int32_t>(given->size()));
  for (std::int32_t i = 0; i < all_islands(); ++i) shared_ = shared_ || shared(i);
  const Pace pace(vrp.size(), lines, removals);
  for (std::int32_t first = first_island_ * lines_of_island; first_line() < end_line() && first < end_line(); first += lines_of_island)
    islands_.emplace_back(vrp, granular_, pace, seed, first, std::min(lines_of_island, lines - first));
  Routes first = given ? std::move(*given) : granular_.first;
  if (first.empty()) return;
  first.resize(at(granular_.routes));
  const Individual individual = individual_of(vrp_, std::move(first));
  if (!individual.feasible()) return;
  best_ = {individual.distance, -1, 0, individual.routes};
  if (!given) return;  // lines begin at solutions of their own
  for (Island& island : islands_) island.begin_with(individual);
  for (Island& island : islands_) island.know(best_);
}

std::int32_t Islands::first_line(std::int32_t rank) const {
  const std::int64_t islands = all_islands();
  if (islands >= ranks()) return std::min(lines_, static_cast<std::int32_t>(islands * rank / ranks()) * lines_of_island);
  return static_cast<std::int32_t>(std::int64_t{lines_} * rank / ranks());
}

bool Islands::shared(std::int32_t island) const {
  const std::int32_t first = island * lines_of_island, end = std::min(lines_, first + lines_of_island);
  for (std::int32_t r = 1; r < ranks(); ++r)
    if (first_line(r) > first && first_line(r) < end) return true;
  return false;
}

std::vector<const Island*> Islands::own() const {
  std::vector<const Island*> own;
  for (const Island& island : islands_)
    if (island.first() >= first_line()) own.push_back(&island);
  return own;
}

std::vector<std::vector<std::int64_t>> Islands::gathered(const Words& mine) const {
  return team_ != nullptr ? team_->gathered(mine.all()) : std::vector<std::vector<std::int64_t>>{mine.all()};
}

std::int64_t Islands::until_end() const {
  if (shared_) return 1;
  const std::int64_t period = all_islands() > 1 ? migration : recombination;
  return std::min(period - generations_ % period, schedule_.left());
}

// --- a generation ------------------------------------------------------------------------------------------------------

void Islands::exchange(std::span<Handed> handed) const {
  Words mine;
  for (std::int32_t b = first_line(); b < end_line(); ++b) {
    if (!shared(b / lines_of_island)) continue;
    const Handed& one = handed[at(b)];
    mine.put(one.distance);
    mine.put((one.load_feasible ? 1 : 0) + (one.duration_feasible ? 2 : 0));
    mine.put(of(b).hands_over(b) ? one.routes : Routes());
  }
  const auto all = gathered(mine);
  for (std::int32_t r = 0; r < ranks(); ++r) {
    WordsOf words(all[at(r)]);
    for (std::int32_t b = first_line(r); b < first_line(r + 1); ++b) {
      if (!shared(b / lines_of_island)) continue;
      Handed other;
      other.distance = words.number();
      const std::int64_t feasible = words.number();
      other.load_feasible = feasible % 2 != 0;
      other.duration_feasible = feasible / 2 != 0;
      other.routes = words.routes();
      if (r != rank()) handed[at(b)] = std::move(other);
    }
  }
}

// --- the best, and counts ----------------------------------------------------------------------------------------------

void Islands::offer(Incumbent best) {
  if (best.before(best_)) best_ = std::move(best);
}

void Islands::put_best(std::int64_t evaluations, Words& mine) const {
  const Incumbent* best = nullptr;
  for (const Island& island : islands_)
    if (!island.best().routes.empty() && (best == nullptr || island.best().before(*best))) best = &island.best();
  mine.put(evaluations);
  mine.put(best != nullptr ? best->routes : Routes());
  if (best == nullptr) return;
  for (const std::int64_t number : {best->distance, best->generation, best->place}) mine.put(number);
}

void Islands::take_best(std::span<WordsOf> ranks) {
  evaluations_ = 0;
  for (WordsOf& words : ranks) {
    evaluations_ += words.number();
    Incumbent best;
    best.routes = words.routes();
    if (best.routes.empty()) continue;
    for (std::int64_t* const number : {&best.distance, &best.generation, &best.place}) *number = words.number();
    offer(std::move(best));
  }
  for (Island& island : islands_) island.know(best_);
}

void Islands::agree_on_best(std::int64_t evaluations) {
  Words mine;
  put_best(evaluations, mine);
  const auto all = gathered(mine);
  std::vector<WordsOf> ranks = words_of(all);
  take_best(ranks);
}

// --- between generations -----------------------------------------------------------------------------------------------

void Islands::end(std::int64_t count, std::int64_t evaluations) {
  Words mine;
  put_best(evaluations, mine);
  std::vector<std::vector<std::int64_t>> distances;
  for (Island& island : islands_) distances.push_back(island.take_distances());
  for (std::int64_t g = 0; g < count; ++g)
    for (std::int32_t b = first_line(); b < end_line(); ++b) {
      const Island& island = of(b);
      mine.put(distances[at(b / lines_of_island - first_island_)][at(g * island.lines() + b - island.first())]);
    }
  const auto all = gathered(mine);
  std::vector<WordsOf> ranks = words_of(all);
  take_best(ranks);
  for (std::int64_t g = 0; g < count; ++g)
    for (std::int32_t b = 0, r = 0; b < lines_; ++b) {
      while (b == first_line(r + 1)) ++r;
      digest_.add(static_cast<std::uint64_t>(ranks[at(r)].number()));
    }
  for (std::int64_t g = 0; g < count; ++g) schedule_.next();
  if (schedule_.ends()) {
    idle_cycles_ = best_.distance < before_cycle_ ? 0 : idle_cycles_ + 1;
    before_cycle_ = best_.distance;
  }
  generations_ += count;
  if (all_islands() > 1 && generations_ % migration == 0) migrate();
  if (generations_ % recombination == 0) recombine();
}

/// The best of each island goes on to the next one, but not to one that has just begun.
void Islands::migrate() {
  Words mine;
  for (const Island* const island : own()) {
    const std::optional<Individual> best = island->population().cheapest();
    mine.put(best ? best->routes : Routes());
  }
  std::vector<Routes> leaving;
  const auto all = gathered(mine);
  for (WordsOf words : words_of(all))
    while (!words.empty()) leaving.push_back(words.routes());
  for (Island& to : islands_) {
    const std::size_t i = at(to.first() / lines_of_island);
    if (Routes& routes = leaving[(i + leaving.size() - 1) % leaving.size()]; !routes.empty()) to.welcome(individual_of(vrp_, routes));
  }
}

/// Of the routes that members have, or had, what is cheaper than the best. What the last one made goes to one island after the other.
void Islands::recombine() {
  Routes made = recombined_.valid() ? recombined_.get() : Routes();
  Words mine;
  for (const Island* const island : own()) island->population().for_each([&](const Individual& member) { mine.put(member.routes); });
  recombined_ = std::async(beside_ ? std::launch::async : std::launch::deferred, [this, all = gathered(mine), known = best_.routes] {
    for (WordsOf words : words_of(all))
      while (!words.empty())
        for (const vrp::Route& route : words.routes()) pool_.add(route);
    return known.empty() ? Routes() : pool_.recombined(known, granular_.routes, stop_);
  });
  if (made.empty()) return;
  made.resize(at(granular_.routes));
  Individual individual = individual_of(vrp_, std::move(made));
  offer({individual.distance, generations_, -1, individual.routes});
  for (Island& island : islands_) island.know(best_);
  const std::int32_t i = static_cast<std::int32_t>(generations_ / recombination % all_islands()) - first_island_;
  if (i >= 0 && i < static_cast<std::int32_t>(islands_.size())) islands_[at(i)].welcome(std::move(individual));
}

}  // namespace vicinity::alns::hybrid
