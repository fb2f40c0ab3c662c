#pragma once
// UTF-8, as far as readers and writers of texts need it.
#include <cstddef>
#include <string_view>

namespace vicinity {

/// What some editors put before a text; it is not of it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Bytes of the character that a text begins with; 0: it begins with none. Overlong forms, surrogates and what lies beyond U+10FFFF are
/// none.
[[nodiscard]] inline std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xC0u) != 0x80u) return 0;
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
                     (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

}  // namespace vicinity
