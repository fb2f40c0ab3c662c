#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity {

/// The folder of catalogue.yaml: $VICINITY_DATA if set, else data/ below the working directory, else data/ of the source
/// tree this program was built from. Throws InputError when none holds a catalogue.
[[nodiscard]] std::filesystem::path data_folder();

/// Where instance files are looked for, in this order: the folders of $VICINITY_INSTANCES (separated by ':'), then
/// data/instances/ and data/models/, the latter part of this repository.
[[nodiscard]] std::vector<std::filesystem::path> instance_folders();

/// The instance file `file` ("coloring/1-Insertions_4.col"): below each folder at exactly that place, or else anywhere
/// below it under the same file name, and where that is nowhere its suffix in other letters ("nug30.DAT"). Throws MissingInput, one line
/// that says where it looked and `how` to get it ("get it from its collection").
[[nodiscard]] std::filesystem::path find_instance_file(const std::filesystem::path& file, const std::string& how,
                                                       const std::vector<std::filesystem::path>& folders);

/// Does the file's name end so, in small or capital letters? `suffix` is in small ones: ".tsp".
[[nodiscard]] bool has_suffix(const std::filesystem::path& file, std::string_view suffix);

}  // namespace vicinity
