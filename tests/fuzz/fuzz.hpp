#pragma once
// What the targets share. A reader may refuse its input in one line that names the place; all else is a finding: a crash, another
// exception, a message without a place.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "core/util/error.hpp"

namespace vicinity::fuzz {

inline const std::string file = "input";

/// "input:7: what is wrong", or of the whole "input: what is wrong", in one line.
inline void require_place(const std::string& message) {
  const bool begins = message.starts_with(file + ":") && message.find('\n') == std::string::npos;
  const char next = begins && message.size() > file.size() + 1 ? message[file.size() + 1] : '\0';
  if (next == ' ' || std::isdigit(static_cast<unsigned char>(next)) != 0) return;
  std::fprintf(stderr, "a message without a place: %s\n", message.c_str());
  std::abort();
}

template <class Read>
int run(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const InputError& error) {
    require_place(error.what());
  }
  return 0;
}

/// An instance, and behind a line of its own with %% a solution of it.
inline std::pair<std::string, std::string> two_files(const std::string& text) {
  constexpr std::string_view separator = "\n%%\n";
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at + 1), text.substr(at + separator.size())};
}

}  // namespace vicinity::fuzz
