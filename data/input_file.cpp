#include "data/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "core/util/error.hpp"

namespace vicinity {

std::ifstream open_input_file(const std::filesystem::path& file, std::uintmax_t most) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const bool folder = fs::is_directory(status);
    throw InputError(fmt::format("{}: cannot be read: {}", file.string(), folder ? std::strerror(EISDIR) : "not a regular file"));
  }
  if (fs::exists(status) && fs::file_size(file, error) > most && !error)
    throw InputError(fmt::format("{}: larger than {} MiB", file.string(), most >> 20));
  errno = ENOENT;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  return in;
}

std::string read_input_file(const std::filesystem::path& file, std::uintmax_t most) {
  std::ifstream in = open_input_file(file, most);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw InputError(file.string() + ": cannot be read");
  return text;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace vicinity
