#pragma once
// EDGE_WEIGHT_SECTION of TSPLIB and CVRPLIB: the rows of a matrix, or of a triangle of it.
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/lines.hpp"

namespace vicinity::text {

/// TSPLIB's names of matrices, for EDGE_WEIGHT_FORMAT.
inline const std::vector<std::string> weight_formats{"FULL_MATRIX", "LOWER_ROW",      "LOWER_DIAG_ROW", "UPPER_ROW",     "UPPER_DIAG_ROW",
                                                     "LOWER_COL",   "LOWER_DIAG_COL", "UPPER_COL",      "UPPER_DIAG_COL"};

/// put(i, j, word) for the entries of an n x n matrix, in the order of the file; of a triangle each once.
template <class Put>
void read_weights(Lines& lines, const std::string& format, std::size_t n, const Put& put) {
  const bool full = format == "FULL_MATRIX", diagonal = full || format.find("DIAG") != std::string::npos;
  const bool upper = format.starts_with("UPPER") == format.ends_with("ROW");
  std::vector<std::string_view> words;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = full || !upper ? 0 : i + (diagonal ? 0 : 1), end = full || upper ? n : i + (diagonal ? 1 : 0);
    for (std::size_t j = first; j < end; ++j) {
      for (; at == words.size(); at = 0) {
        if (!lines.next() || std::isalpha(static_cast<unsigned char>(lines.text().front())) != 0)
          lines.fail(fmt::format("EDGE_WEIGHT_SECTION ends before row {}, column {} of {}", i + 1, j + 1, format));
        words = words_of(lines.text());
      }
      put(i, j, words[at++]);
    }
  }
  if (at < words.size()) lines.fail(fmt::format("unexpected '{}' after the last distance of {}", shown(words[at]), format));
}

}  // namespace vicinity::text
