#include "systems/alns_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/utf8.hpp"

namespace vicinity {
namespace {

constexpr double longer_side = 960, margin = 20, caption = 28;  // pixels

/// Bytes of the character that a text begins with; 0: it is none, or one that XML has no place for.
std::size_t xml_character(std::string_view text) {
  const unsigned char first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7F || text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF")) return 0;
  return character_length(text);
}

/// As text of XML, with ? for what has no place there.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(std::max<std::size_t>(length, 1))) {
    const char c = text.front();
    length = xml_character(text);
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (length == 0)
      result += '?';
    else
      result += text.substr(0, length);
  }
  return result;
}

/// The plane of an instance on pixels: north is up.
class Canvas {
 public:
  explicit Canvas(const vrp::Data& data) : data_(data) {
    const auto [west, east] = std::minmax_element(data.x.begin(), data.x.end());
    const auto [south, north] = std::minmax_element(data.y.begin(), data.y.end());
    west_ = *west;
    north_ = *north;
    const double extent = std::max(*east - *west, *north - *south);
    factor_ = extent > 0 ? longer_side / extent : 1;
    width_ = (*east - *west) * factor_ + 2 * margin;
    height_ = (*north - *south) * factor_ + 2 * margin + caption;
  }
  [[nodiscard]] double width() const { return std::max(width_, 320.0); }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] std::pair<double, double> at(std::int32_t node) const {
    const auto k = static_cast<std::size_t>(node);
    return {margin + (data_.x[k] - west_) * factor_, caption + margin + (north_ - data_.y[k]) * factor_};
  }
  /// "x,y x,y ..."
  [[nodiscard]] std::string points(const std::vector<std::int32_t>& nodes) const {
    std::string text;
    for (const std::int32_t node : nodes) {
      const auto [x, y] = at(node);
      text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", x, y);
    }
    return text;
  }

 private:
  const vrp::Data& data_;
  double west_ = 0, north_ = 0, factor_ = 1, width_ = 0, height_ = 0;
};

/// The k-th of any number of colours that differ: hues a golden section apart, in three shades.
std::string colour(std::size_t k) {
  constexpr double golden = 0.6180339887498949;
  const double turn = static_cast<double>(k) * golden;
  return fmt::format("hsl({:.0f} {}% {}%)", 360 * (turn - std::floor(turn)), 65, std::array{38, 46, 30}[k % 3]);
}

std::string route_element(const vrp::Vrp& instance, const Canvas& canvas, const vrp::Route& route, std::size_t k, double dot) {
  std::int64_t load = 0;
  double length = instance.distance(0, route.front()) + instance.distance(route.back(), 0);
  for (std::size_t i = 0; i < route.size(); ++i) {
    load += instance.data().demand[static_cast<std::size_t>(route[i])];
    if (i > 0) length += instance.distance(route[i - 1], route[i]);
  }
  std::string text =
      fmt::format("<g stroke=\"{0}\" fill=\"{0}\"><title>route {1}: {2} customers, load {3} of {4}, length {5:.10g}</title>\n", colour(k),
                  k + 1, route.size(), load, instance.data().capacity, std::round(length * 1e3) / 1e3);
  text += fmt::format("<polyline fill=\"none\" stroke-opacity=\"0.3\" points=\"{}\"/>\n", canvas.points({route.front(), 0, route.back()}));
  text += fmt::format("<polyline fill=\"none\" points=\"{}\"/>\n", canvas.points(route));
  for (const std::int32_t customer : route) {
    const auto [x, y] = canvas.at(customer);
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x, y, dot);
  }
  return text + "</g>\n";
}

}  // namespace

std::string drawing_of_routes(const vrp::Vrp& instance, const Solution& solution) {
  const vrp::Data& data = instance.data();
  if (data.x.empty()) throw InputError("the instance has no coordinates: its routes cannot be drawn");
  const Canvas canvas(data);
  const double dot = std::clamp(60 / std::sqrt(static_cast<double>(instance.size())), 1.2, 4.0);
  const std::vector<vrp::Route> routes = vrp::routes_of(solution);
  std::string title = escaped(instance.name());
  if (!routes.empty())
    title += fmt::format(": {:.10g}, {} route{}", static_cast<double>(vrp::cost(instance, solution)) / instance.scale(), routes.size(),
                         routes.size() == 1 ? "" : "s");
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "stroke-width=\"{2:.1f}\" stroke-linejoin=\"round\" font-family=\"sans-serif\" font-size=\"16\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{3}\" y=\"{4}\" fill=\"black\">{5}</text>\n",
      canvas.width(), canvas.height(), dot / 2.5 + 0.3, margin, caption, title);
  for (std::size_t k = 0; k < routes.size(); ++k) text += route_element(instance, canvas, routes[k], k, dot);
  if (routes.empty())
    for (std::int32_t customer = 1; customer <= instance.size(); ++customer) {
      const auto [x, y] = canvas.at(customer);
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", x, y, dot);
    }
  const auto [x, y] = canvas.at(0);
  return text +
         fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\"><title>depot</title></rect>\n</svg>\n", x - 5, y - 5);
}

}  // namespace vicinity
