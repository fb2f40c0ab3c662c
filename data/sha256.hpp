#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace vicinity {

/// SHA-256 (FIPS 180-4) as 64 lower-case hexadecimal digits: the checksum of instance files in data/catalogue.yaml.
/// Our own, because the files are small and a cryptographic library would be one more thing to install.
[[nodiscard]] std::string sha256(std::string_view bytes);
/// Of a whole file. Throws InputError when it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace vicinity
