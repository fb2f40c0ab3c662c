#pragma once
// A case and its instance as JSON: what mpi-openmp sends to its ranks, which read no files.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/methods/lsm/task.hpp"

namespace vicinity::lsm {

template <class T>
[[nodiscard]] std::vector<T> copied(const T* from, std::int64_t count) {
  return {from, from + count};
}

[[nodiscard]] inline nlohmann::json to_json(const Case& c, const Instance& instance) {
  nlohmann::json json{{"problem", problem_of(instance)}, {"values", nlohmann::json::object()}, {"hash", instance.hash()}};
  for (const auto& [axis, value] : c.values) std::visit([&, name = axis](const auto& given) { json["values"][name] = given; }, value);
  if (const auto* qap = dynamic_cast<const qap::Qap*>(&instance)) {
    const std::int64_t entries = std::int64_t{qap->size()} * qap->size();
    json["name"] = qap->name();
    json["n"] = qap->size();
    json["a"] = copied(qap->view().a, entries);
    json["b"] = copied(qap->view().b, entries);
  } else if (const auto* ppp = dynamic_cast<const ppp::Ppp*>(&instance)) {
    json["name"] = ppp->name();
    json["m"] = ppp->rows();
    json["n"] = ppp->columns();
    json["a"] = copied(ppp->view().a, std::int64_t{ppp->rows()} * ppp->columns());
    json["target"] = copied(ppp->view().target, ppp->columns() + 1);
  } else if (const auto* tsp = dynamic_cast<const tsp::Tsp*>(&instance)) {
    json["name"] = tsp->name();
    json["x"] = copied(tsp->view().x, tsp->size());
    json["y"] = copied(tsp->view().y, tsp->size());
  } else {
    const auto& function = dynamic_cast<const weierstrass::Weierstrass&>(instance);
    json["dimension"] = function.dimension();
    json["neighbors"] = function.neighbors();
  }
  return json;
}

[[nodiscard]] inline Case case_of(const nlohmann::json& json) {
  Case c{json.at("problem"), "", {}};
  for (const auto& [axis, value] : json.at("values").items()) {
    if (value.is_string())
      c.values[axis] = value.get<std::string>();
    else if (value.is_number_float())
      c.values[axis] = value.get<double>();
    else
      c.values[axis] = value.get<std::int64_t>();
  }
  return c;
}

/// The same by content: its hash is that of the instance it was made from.
[[nodiscard]] inline std::unique_ptr<Instance> instance_of(const nlohmann::json& json) {
  const std::string problem = json.at("problem");
  const auto numbers = [&](const char* name) { return json.at(name).get<std::vector<std::int32_t>>(); };
  if (problem == "qap") return std::make_unique<qap::Qap>(json.at("name"), json.at("n").get<std::int32_t>(), numbers("a"), numbers("b"));
  if (problem == "ppp")
    return std::make_unique<ppp::Ppp>(json.at("name"), json.at("m").get<std::int32_t>(), json.at("n").get<std::int32_t>(),
                                      json.at("a").get<std::vector<std::int8_t>>(), numbers("target"));
  if (problem == "tsp")
    return std::make_unique<tsp::Tsp>(json.at("name"), json.at("x").get<std::vector<double>>(), json.at("y").get<std::vector<double>>());
  return std::make_unique<weierstrass::Weierstrass>(json.at("dimension").get<std::int32_t>(), json.at("neighbors").get<std::int64_t>());
}

}  // namespace vicinity::lsm
