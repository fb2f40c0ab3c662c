#pragma once
// The experiments by name: experiments/<system>/<name>.yaml is `<system>/<name>`.
#include <filesystem>
#include <string>
#include <vector>

namespace vicinity {

/// Descriptors in experiments/ of the working directory, else of the source folder, and of further systems; sorted within each.
[[nodiscard]] std::vector<std::string> all_descriptors();

/// `<system>/<name>` of a descriptor's path.
[[nodiscard]] std::string experiment_name(const std::filesystem::path& descriptor);

/// The names of all descriptors, in their order.
[[nodiscard]] std::vector<std::string> experiment_names();

/// The file that is meant by a path or a name. Throws InputError, with what is near, where there is none.
[[nodiscard]] std::string descriptor_path(const std::string& path_or_name);

}  // namespace vicinity
