#pragma once
// What ranks tell each other, as whole numbers (Team::gathered()): numbers, and solutions, four customers a number.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/methods/alns/hybrid/population.hpp"

namespace vicinity::alns::hybrid {

class Words {
 public:
  void put(std::int64_t number) { words_.push_back(number); }
  /// Of any number of routes; none, too.
  void put(const Routes& routes) {
    std::vector<std::int16_t> parts;
    for (const vrp::Route& route : routes) {
      parts.push_back(static_cast<std::int16_t>(route.size()));
      parts.insert(parts.end(), route.begin(), route.end());
    }
    put(static_cast<std::int64_t>(parts.size()));
    words_.resize(words_.size() + whole(parts.size()));
    if (!parts.empty()) std::memcpy(&words_[words_.size() - whole(parts.size())], parts.data(), parts.size() * sizeof(std::int16_t));
  }
  [[nodiscard]] const std::vector<std::int64_t>& all() const { return words_; }

  static constexpr std::size_t whole(std::size_t parts) { return (parts + 3) / 4; }

 private:
  std::vector<std::int64_t> words_;
};

/// Takes what was put, in the same order.
class WordsOf {
 public:
  explicit WordsOf(std::span<const std::int64_t> words) : words_(words) {}

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::int64_t number() {
    const std::int64_t first = words_.front();
    words_ = words_.subspan(1);
    return first;
  }
  [[nodiscard]] Routes routes() {
    std::vector<std::int16_t> parts(static_cast<std::size_t>(number()));
    if (!parts.empty()) std::memcpy(parts.data(), words_.data(), parts.size() * sizeof(std::int16_t));
    words_ = words_.subspan(Words::whole(parts.size()));
    Routes routes;
    for (auto part = parts.begin(); part != parts.end();) {
      const std::int16_t size = *part++;
      routes.emplace_back(part, part + size);
      part += size;
    }
    return routes;
  }

 private:
  std::span<const std::int64_t> words_;
};

}  // namespace vicinity::alns::hybrid
