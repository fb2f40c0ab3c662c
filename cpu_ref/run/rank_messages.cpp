#include "cpu_ref/run/rank_messages.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "core/problems/ppp/ppp.hpp"
#include "core/problems/qap/qap.hpp"
#include "core/problems/tsp/tsp.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "core/problems/weierstrass/weierstrass.hpp"

namespace vicinity {
namespace {

using Json = nlohmann::json;

template <class T>
std::vector<T> copied(const T* from, std::int64_t count) {
  return {from, from + count};
}

Json to_json(const qap::Qap& qap) {
  const std::int64_t entries = std::int64_t{qap.size()} * qap.size();
  return {
      {"kind", "qap"}, {"name", qap.name()}, {"n", qap.size()}, {"a", copied(qap.view().a, entries)}, {"b", copied(qap.view().b, entries)}};
}
Json to_json(const ppp::Ppp& ppp) {
  return {{"kind", "ppp"},
          {"name", ppp.name()},
          {"m", ppp.rows()},
          {"n", ppp.columns()},
          {"a", copied(ppp.view().a, std::int64_t{ppp.rows()} * ppp.columns())},
          {"target", copied(ppp.view().target, ppp.columns() + 1)}};
}
Json to_json(const tsp::Tsp& tsp) {
  return {{"kind", "tsp"}, {"name", tsp.name()}, {"x", copied(tsp.view().x, tsp.size())}, {"y", copied(tsp.view().y, tsp.size())}};
}
Json to_json(const weierstrass::Weierstrass& function) {
  return {{"kind", "weierstrass"}, {"dimension", function.dimension()}, {"neighbors", function.neighbors()}};
}
Json to_json(const vrp::Vrp& vrp) {
  const vrp::Data& data = vrp.data();
  Json json{{"kind", "vrp"},         {"name", data.name},         {"x", data.x},
            {"y", data.y},           {"matrix", data.matrix},     {"rounding", static_cast<int>(data.rounding)},
            {"demand", data.demand}, {"capacity", data.capacity}, {"service", data.service},
            {"finest", data.finest}};
  if (data.limit) json["limit"] = *data.limit;
  if (data.vehicles) json["vehicles"] = *data.vehicles;
  return json;
}

/// Of the first of these kinds that it is one of.
template <class Kind, class... Others>
Json to_json(const Instance& instance) {
  if (const auto* known = dynamic_cast<const Kind*>(&instance)) return to_json(*known);
  if constexpr (sizeof...(Others) > 0)
    return to_json<Others...>(instance);
  else
    throw std::runtime_error(std::string("no message for an instance of ") + typeid(instance).name());
}

std::unique_ptr<Instance> made_of(const Json& json) {
  const std::string kind = json.at("kind");
  const auto whole = [&](const char* name) { return json.at(name).get<std::int32_t>(); };
  const auto numbers = [&](const char* name) { return json.at(name).get<std::vector<std::int32_t>>(); };
  const auto reals = [&](const char* name) { return json.at(name).get<std::vector<double>>(); };
  if (kind == "qap") return std::make_unique<qap::Qap>(json.at("name"), whole("n"), numbers("a"), numbers("b"));
  if (kind == "ppp")
    return std::make_unique<ppp::Ppp>(json.at("name"), whole("m"), whole("n"), json.at("a").get<std::vector<std::int8_t>>(),
                                      numbers("target"));
  if (kind == "tsp") return std::make_unique<tsp::Tsp>(json.at("name"), reals("x"), reals("y"));
  if (kind == "vrp") {
    vrp::Data data;
    data.name = json.at("name");
    data.x = reals("x");
    data.y = reals("y");
    data.matrix = reals("matrix");
    data.rounding = static_cast<vrp::Rounding>(whole("rounding"));
    data.demand = numbers("demand");
    data.capacity = whole("capacity");
    data.service = reals("service");
    data.finest = json.at("finest");
    if (json.contains("limit")) data.limit = json.at("limit").get<double>();
    if (json.contains("vehicles")) data.vehicles = whole("vehicles");
    return std::make_unique<vrp::Vrp>(std::move(data));
  }
  return std::make_unique<weierstrass::Weierstrass>(whole("dimension"), json.at("neighbors").get<std::int64_t>());
}

}  // namespace

Json rank_message(const Case& c, const Instance& instance) {
  Json message{{"problem", c.problem}, {"values", Json::object()}, {"hash", instance.hash()}};
  for (const auto& [axis, value] : c.values) std::visit([&, name = axis](const auto& given) { message["values"][name] = given; }, value);
  message["instance"] = to_json<qap::Qap, ppp::Ppp, tsp::Tsp, weierstrass::Weierstrass, vrp::Vrp>(instance);
  return message;
}

Case case_of(const Json& message) {
  Case c{message.at("problem"), "", {}};
  for (const auto& [axis, value] : message.at("values").items()) {
    if (value.is_string())
      c.values[axis] = value.get<std::string>();
    else if (value.is_number_float())
      c.values[axis] = value.get<double>();
    else
      c.values[axis] = value.get<std::int64_t>();
  }
  return c;
}

std::unique_ptr<Instance> instance_of(const Json& message) {
  std::unique_ptr<Instance> instance = made_of(message.at("instance"));
  if (instance->hash() != message.at("hash")) throw std::runtime_error("the instance is not the one that was sent");
  return instance;
}

}  // namespace vicinity
