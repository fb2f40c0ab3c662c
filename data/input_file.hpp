#pragma once
// Files that are read: regular ones, of bounded size. No pipe is waited for, no device read without end.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace vicinity {

/// Bytes of an instance or solution; of what is read as a whole.
inline constexpr std::uintmax_t largest_instance_file = std::uintmax_t{1} << 34, largest_file = std::uintmax_t{1} << 30;

/// Throws InputError "file: why" when there is none, when it is a folder, device or pipe, or larger than `most` bytes.
[[nodiscard]] std::ifstream open_input_file(const std::filesystem::path& file, std::uintmax_t most = largest_instance_file);
[[nodiscard]] std::string read_input_file(const std::filesystem::path& file, std::uintmax_t most = largest_file);

/// Messages are one line each, whatever a library or the file contains.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace vicinity
