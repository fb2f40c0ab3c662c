#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

#include "core/problems/qap/qap.hpp"

namespace vicinity {

/// Reads QAPLIB's .dat format: n, then the n*n entries of A, then those of B, separated by white space, line breaks anywhere.
/// The line of n may also state the best cost known, or a bound and that one (Taillard's files, and those called .qap), which are not used:
/// costs are told from entries by what stands in the lines below. Throws InputError "file:line: ..." for anything else: not a whole number,
/// out of 32 bits, too few or too many numbers, a size outside 2..46340, entries whose costs could leave 64 bits. The instance is named
/// after the file.
[[nodiscard]] qap::Qap read_qaplib(std::istream& in, const std::string& file);
[[nodiscard]] qap::Qap read_qaplib(const std::filesystem::path& file);

/// A .sln file: n, the objective, a permutation.
struct QaplibSolution {
  std::int64_t objective = 0;    ///< as the file states it
  qap::Permutation permutation;  ///< p[facility] = location, from 0; cost(qap, permutation) == objective
  std::string convention;        ///< how the file was to be read: "1-based", "0-based, inverse", ...
};

/// Reads a .sln file of `qap`. QAPLIB's files count from 1 or from 0, some have commas, and they list locations of facilities or
/// facilities of locations (which is the same as exchanging A and B): the reading whose cost is the stated objective is taken. Throws
/// InputError "file:line: ..." for broken files and when none fits.
[[nodiscard]] QaplibSolution read_qaplib_solution(std::istream& in, const std::string& file, const qap::Qap& qap);
[[nodiscard]] QaplibSolution read_qaplib_solution(const std::filesystem::path& file, const qap::Qap& qap);

/// "n cost\n" and the locations of the facilities, counted from 1, as QAPLIB writes them.
[[nodiscard]] std::string qaplib_solution_text(const qap::Qap& qap, std::span<const std::int32_t> permutation);
/// The instance in QAPLIB's .dat format: n, A row by row, B row by row, each after an empty line. This is the canonical text that
/// `content_sha256` in the catalogue covers.
[[nodiscard]] std::string qaplib_text(const qap::Qap& qap);

}  // namespace vicinity
