#include "data/qaplib.hpp"
#include "core/error.hpp"
namespace vicinity {
qap::Qap read_qaplib(const std::filesystem::path&) { throw InputError("todo"); }
QaplibSolution read_qaplib_solution(const std::filesystem::path&, const qap::Qap&) { throw InputError("todo"); }
std::string qaplib_solution_text(const qap::Qap&, std::span<const std::int32_t>) { throw InputError("todo"); }
std::shared_ptr<const qap::Qap> load_qap(const std::string&) { throw InputError("todo"); }
std::optional<std::int64_t> best_known_of(const qap::Qap&) { return std::nullopt; }
}
