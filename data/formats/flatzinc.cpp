#include "data/formats/flatzinc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "data/formats/lines.hpp"
#include "data/input_file.hpp"

namespace vicinity {
namespace {

using cp::Expression;
using Kind = cp::Expression::Kind;

enum class Token : std::uint8_t { end, identifier, integer, real, text, annotation, dots, other };

/// The tokens of a text, one after the other.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& file)
      : at_(text.data() + (text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0)), end_(text.data() + text.size()), file_(file) {
    next();
  }

  [[nodiscard]] Token kind() const noexcept { return kind_; }
  /// As it stands in the file; of a string without its quotes.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }
  [[nodiscard]] double real() const noexcept { return real_; }
  /// Of the current token.
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }
  [[nodiscard]] bool is(char other) const noexcept { return kind_ == Token::other && text_[0] == other; }
  [[nodiscard]] bool is(std::string_view word) const noexcept { return kind_ == Token::identifier && text_ == word; }

  void next() {
    skip_blanks();
    line_ = next_line_;
    if (at_ == end_) {
      kind_ = Token::end;
      text_ = {};
      return;
    }
    const char first = *at_, second = at_ + 1 < end_ ? at_[1] : '\0';
    if (is_letter(first)) {
      take(Token::identifier, std::find_if_not(at_ + 1, end_, [](char c) { return is_letter(c) || is_digit(c); }));
    } else if (is_digit(first) || (first == '-' && is_digit(second))) {
      number();
    } else if (first == '"') {
      string();
    } else if (first == ':' && second == ':') {
      take(Token::annotation, at_ + 2);
    } else if (first == '.' && second == '.') {
      take(Token::dots, at_ + 2);
    } else if (std::strchr("()[]{},;:=", first) != nullptr && first != '\0') {
      take(Token::other, at_ + 1);
    } else {
      fail(fmt::format("unexpected '{}'", text::shown({at_, 1})));
    }
  }
  /// Everything up to the next semicolon.
  void skip_item() {
    while (kind_ != Token::end && !is(';')) next();
  }
  /// What stands here, for a complaint.
  [[nodiscard]] std::string found() const {
    return kind_ == Token::end ? "the end of the file" : kind_ == Token::text ? "a string" : fmt::format("'{}'", text::shown(text_));
  }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", file_, line_, what)); }
  [[noreturn]] void expected(const char* what) const { fail(fmt::format("expected {}, found {}", what, found())); }

 private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void take(Token kind, const char* end) {
    kind_ = kind;
    text_ = {at_, static_cast<std::size_t>(end - at_)};
    at_ = end;
  }
  void skip_blanks() {
    for (; at_ != end_; ++at_) {
      if (*at_ == '%') at_ = std::find(at_, end_, '\n');
      if (at_ == end_) return;
      if (*at_ == '\n')
        ++next_line_;
      else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r')
        return;
    }
  }
  void number() {
    const char* digits = at_ + (*at_ == '-' ? 1 : 0);
    const bool based = digits + 1 < end_ && *digits == '0' && (digits[1] == 'x' || digits[1] == 'o');
    const char* last =
        std::find_if_not(digits + (based ? 2 : 0), end_, [based](char c) { return based ? is_letter(c) || is_digit(c) : is_digit(c); });
    const bool fraction = !based && last + 1 < end_ && *last == '.' && is_digit(last[1]);
    const bool exponent = !based && last != end_ && (*last == 'e' || *last == 'E');
    if (fraction || exponent) {
      const auto [end, error] = std::from_chars(at_, end_, real_);
      take(Token::real, end);
      if (error != std::errc()) fail(fmt::format("'{}' is no number", text::shown(text_)));
      return;
    }
    std::uint64_t magnitude = 0;
    const char* begin = digits + (based ? 2 : 0);
    const auto [end, error] = std::from_chars(begin, last, magnitude, !based ? 10 : digits[1] == 'x' ? 16 : 8);
    const bool negative = *at_ == '-';
    take(Token::integer, last);
    if (error == std::errc::result_out_of_range || magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail(fmt::format("'{}' leaves 64 bits", text::shown(text_)));
    if (error != std::errc() || end != last) fail(fmt::format("'{}' is no number", text::shown(text_)));
    integer_ = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }
  void string() {
    const char* end = at_ + 1;
    while (end != end_ && *end != '"' && *end != '\n') end += *end == '\\' && end + 1 != end_ && end[1] != '\n' ? 2 : 1;
    if (end >= end_ || *end != '"') fail("a string does not end on its line");
    kind_ = Token::text;
    text_ = {at_ + 1, static_cast<std::size_t>(end - at_ - 1)};
    at_ = end + 1;
  }

  const char* at_;
  const char* end_;
  const std::string& file_;
  Token kind_ = Token::end;
  std::string_view text_;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::uint32_t line_ = 1, next_line_ = 1;
};

/// Gives each spelling its Name: open addressing, at most half full.
class Names {
 public:
  explicit Names(cp::Model& model) : model_(model), slots_(1 << 12) {}

  [[nodiscard]] cp::Name operator()(std::string_view text) {
    const std::uint32_t hash = hash_of(text);
    std::size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot].name != none; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].hash == hash && model_.text(slots_[slot].name) == text) return slots_[slot].name;
    const auto name = static_cast<cp::Name>(model_.name_ends.size());
    model_.characters.append(text);
    model_.name_ends.push_back(model_.characters.size());
    slots_[slot] = {hash, name};
    if (2 * model_.name_ends.size() > slots_.size()) grow();
    return name;
  }

 private:
  static constexpr cp::Name none = std::numeric_limits<cp::Name>::max();
  struct Slot {
    std::uint32_t hash = 0;
    cp::Name name = none;
  };

  static std::uint32_t hash_of(std::string_view text) {
    std::uint64_t hash = text.size();
    for (; text.size() > 8; text.remove_prefix(8)) hash = mix(hash ^ word_of(text));
    return static_cast<std::uint32_t>(mix(hash ^ word_of(text)));
  }
  static std::uint64_t word_of(std::string_view text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
    return word;
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& old : slots_) {
      if (old.name == none) continue;
      std::size_t slot = old.hash & (larger.size() - 1);
      while (larger[slot].name != none) slot = (slot + 1) & (larger.size() - 1);
      larger[slot] = old;
    }
    slots_ = std::move(larger);
  }

  cp::Model& model_;
  std::vector<Slot> slots_;
};

/// What a declaration says of its values.
struct Type {
  enum class Base : std::uint8_t { boolean, integer, set } base = Base::integer;
  bool var = false;
  bool unbounded = false;  ///< `int` alone
  Expression domain;       ///< a set
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : tokens_(text, file), names_(model_) {
    model_.file = file;
    is_introduced_ = names_("var_is_introduced");
    is_defined_ = names_("is_defined_var");
    output_var_ = names_("output_var");
    output_array_ = names_("output_array");
  }

  cp::Model read() {
    while (tokens_.kind() != Token::end) item();
    if (!solved_) tokens_.fail("the model has no solve item");
    return std::move(model_);
  }

 private:
  static constexpr int deepest = 200;  ///< nested annotations

  void item() {
    if (solved_) tokens_.fail(fmt::format("unexpected {} after the solve item", tokens_.found()));
    if (tokens_.is("constraint")) {
      constraint();
    } else if (tokens_.is("predicate")) {
      tokens_.skip_item();
    } else if (tokens_.is("solve")) {
      solve();
    } else if (tokens_.is("array")) {
      array();
    } else {
      scalar();
    }
    expect(';', "';'");
  }

  void constraint() {
    cp::Constraint constraint;
    constraint.line = tokens_.line();
    tokens_.next();
    constraint.predicate = identifier("the name of a predicate");
    expect('(', "'('");
    constraint.arguments = sequence(')', false);
    constraint.annotations = annotations();
    model_.constraints.push_back(constraint);
  }

  void solve() {
    model_.search_line = tokens_.line();
    tokens_.next();
    model_.search = annotations();
    if (tokens_.is("satisfy")) {
      tokens_.next();
    } else if (tokens_.is("minimize") || tokens_.is("maximize")) {
      model_.goal = tokens_.is("minimize") ? cp::Goal::minimise : cp::Goal::maximise;
      tokens_.next();
      model_.objective = expression(false);
      if (!is_of(model_.objective, {Type::Base::integer, true, false, {}})) tokens_.fail("the objective is no int variable");
    } else {
      tokens_.expected("satisfy, minimize or maximize");
    }
    solved_ = true;
  }

  /// A variable or a parameter.
  void scalar() {
    const Type declared = type();
    expect(':', "':'");
    const cp::Name name = new_name(declared);
    const cp::Stretch notes = annotations();
    if (!declared.var) {
      expect('=', "'='");
      define(name, value_of(declared));
      return;
    }
    cp::Variable variable;
    variable.name = name;
    variable.boolean = declared.base == Type::Base::boolean;
    variable.unbounded = declared.unbounded;
    variable.domain = declared.domain;
    variable.annotations = notes;
    variable.introduced = has(notes, is_introduced_);
    variable.defined = has(notes, is_defined_);
    if (tokens_.is('=')) {
      tokens_.next();
      variable.assigned = true;
      variable.value = value_of(declared);
    }
    const Expression self = Expression::variable(model_.variables.size());
    model_.variables.push_back(variable);
    define(name, self);
    if (has(notes, output_var_)) model_.outputs.push_back({name, variable.boolean, self, {}});
  }

  void array() {
    tokens_.next();
    expect('[', "'['");
    const std::int64_t first = integer();
    if (tokens_.kind() != Token::dots) tokens_.expected("'..'");
    tokens_.next();
    const std::int64_t last = integer();
    expect(']', "']'");
    if (!tokens_.is("of")) tokens_.expected("'of'");
    tokens_.next();
    const Type declared = type();
    expect(':', "':'");
    const cp::Name name = new_name(declared, last < first);
    const cp::Stretch notes = annotations();
    expect('=', "'='; an array has a value");
    if (!tokens_.is('[') && tokens_.kind() != Token::identifier) tokens_.expected("'['");
    const Expression value = expression(false);
    if (!value.is(Kind::array)) tokens_.fail(fmt::format("the value of '{}' is no array", shown(name)));
    if (first != 1 || std::max<std::int64_t>(last, 0) != value.size)
      tokens_.fail(fmt::format("array '{}' has the indices {}..{} and {} elements", shown(name), first, last, value.size));
    for (const Expression& element : model_.elements(value))
      if (!is_of(element, declared)) tokens_.fail(fmt::format("an element of '{}' is not of its type", shown(name)));
    define(name, value);
    for (const Expression& note : model_.elements(notes))
      if (note.is(Kind::call) && atom_of(note) == output_array_) output(name, declared, value, note);
  }

  void output(cp::Name name, const Type& declared, const Expression& value, const Expression& note) {
    cp::Output output{name, declared.base == Type::Base::boolean, value, {}};
    if (declared.base == Type::Base::set && value.size > 0)
      tokens_.fail(fmt::format("array '{}' of sets cannot be printed: sets are not supported", shown(name)));
    if (note.size != 2 || !model_.elements(note)[1].is(Kind::array)) tokens_.fail("output_array expects an array of index sets");
    std::uint64_t product = 1;  // more than the elements: one more of them, so that it cannot overflow
    for (const Expression& dimension : model_.elements(model_.elements(note)[1])) {
      if (!dimension.is_set()) tokens_.fail("output_array expects an array of index sets");
      output.dimensions.push_back(dimension);
      const std::uint64_t size = size_of(dimension), most = std::uint64_t{value.size} + 1;
      product = size > 0 && product > value.size / size ? most : product * size;
    }
    if (output.dimensions.empty() || product != value.size)
      tokens_.fail(fmt::format("the index sets of '{}' do not have {} elements", shown(name), value.size));
    model_.outputs.push_back(std::move(output));
  }

  /// Elements of a set.
  [[nodiscard]] std::uint64_t size_of(const Expression& set) const {
    if (!set.is(Kind::interval)) return set.size;
    const std::int64_t low = model_.elements(set)[0].value, high = model_.elements(set)[1].value;
    return high < low ? 0 : static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  }

  Type type() {
    Type declared;
    if (tokens_.is("var")) {
      declared.var = true;
      tokens_.next();
    }
    if (tokens_.is("set")) {
      tokens_.next();
      if (!tokens_.is("of")) tokens_.expected("'of'");
      tokens_.next();
      const bool var = declared.var;
      const bool nested = tokens_.is("set") || tokens_.is("var");
      if (!nested) declared = type();
      if (nested || declared.base != Type::Base::integer) tokens_.fail("a set has int elements");
      declared.base = Type::Base::set;
      declared.var = var;
    } else if (tokens_.is("bool")) {
      tokens_.next();
      declared.base = Type::Base::boolean;
      declared.domain = interval(0, 1);
    } else if (tokens_.is("int")) {
      tokens_.next();
      declared.domain = interval(cp::least_value, cp::greatest_value);
      declared.unbounded = true;
    } else if (tokens_.is("float") || tokens_.kind() == Token::real) {
      refuse_float();
    } else if (tokens_.kind() == Token::integer || tokens_.is('{')) {
      declared.domain = expression(false);
      if (!declared.domain.is_set()) tokens_.fail("expected a set as domain");
    } else {
      tokens_.expected(declared.var ? "a type" : "predicate, var, array, constraint, solve or a type");
    }
    return declared;
  }

  /// A float by its name, where it has one.
  [[noreturn]] void refuse_float() {
    const std::uint32_t line = tokens_.line();
    while (tokens_.kind() == Token::real || tokens_.kind() == Token::dots || tokens_.is("float")) tokens_.next();
    std::string name;
    if (tokens_.is(':')) {
      tokens_.next();
      if (tokens_.kind() == Token::identifier) name = fmt::format(" '{}'", text::shown(tokens_.text()));
    }
    throw InputError(fmt::format("{}:{}: float{}: floats are not supported", model_.file, line, name));
  }

  /// `empty`: of an array without elements, which may be of anything.
  cp::Name new_name(const Type& declared, bool empty = false) {
    const std::string_view text = tokens_.text();
    const cp::Name name = identifier("a name");
    if (declared.var && declared.base == Type::Base::set && !empty)
      tokens_.fail(fmt::format("set variable '{}': set variables are not supported", text::shown(text)));
    if (name < meanings_.size() && meanings_[name]) tokens_.fail(fmt::format("'{}' is declared twice", text::shown(text)));
    return name;
  }
  void define(cp::Name name, const Expression& meaning) {
    if (name >= meanings_.size()) meanings_.resize(std::max<std::size_t>(2 * meanings_.size(), name + std::size_t{1}));
    meanings_[name] = meaning;
  }

  Expression value_of(const Type& declared) {
    const Expression value = expression(false);
    if (!is_of(value, declared)) tokens_.fail("the value is not of its type");
    return value;
  }
  [[nodiscard]] bool is_of(const Expression& value, const Type& declared) const {
    if (declared.base == Type::Base::set) return value.is_set();
    if (value.is(Kind::variable))
      return declared.var && model_.variables[static_cast<std::size_t>(value.value)].boolean == (declared.base == Type::Base::boolean);
    return value.is(declared.base == Type::Base::boolean ? Kind::boolean : Kind::integer);
  }

  /// An expression; `note`: one of an annotation, where names may stand for themselves.
  Expression expression(bool note) {
    if (++depth_ > deepest) tokens_.fail("expressions are nested too deeply");
    const Expression result = unchecked_expression(note);
    --depth_;
    return result;
  }
  Expression unchecked_expression(bool note) {
    switch (tokens_.kind()) {
      case Token::integer: {
        const std::int64_t low = integer();
        if (tokens_.kind() != Token::dots) return Expression::integer(low);
        tokens_.next();
        if (tokens_.kind() == Token::real) refuse_float();
        return interval(low, integer());
      }
      case Token::identifier:
        return named(note);
      case Token::real: {
        if (!note) refuse_float();
        const double value = tokens_.real();
        tokens_.next();
        return {Kind::real, 0, std::bit_cast<std::int64_t>(value)};
      }
      case Token::text: {
        if (!note) tokens_.expected("a value");
        const cp::Name name = names_(tokens_.text());
        tokens_.next();
        return {Kind::text, 0, name};
      }
      default:
        break;
    }
    if (tokens_.is('[')) {
      tokens_.next();
      const cp::Stretch elements = sequence(']', note);
      return {Kind::array, elements.size, elements.begin};
    }
    if (tokens_.is('{')) {
      tokens_.next();
      return set();
    }
    tokens_.expected("a value");
  }

  Expression named(bool note) {
    if (tokens_.is("true") || tokens_.is("false")) {
      const bool value = tokens_.is("true");
      tokens_.next();
      return Expression::boolean(value);
    }
    const std::string_view text = tokens_.text();
    const cp::Name name = names_(text);
    tokens_.next();
    if (note && tokens_.is('(')) {
      tokens_.next();
      const std::size_t base = stack_.size();
      stack_.push_back({Kind::atom, 0, name});
      const cp::Stretch call = sequence(')', true, base);
      return {Kind::call, call.size, call.begin};
    }
    if (name >= meanings_.size() || !meanings_[name]) {
      if (note) return {Kind::atom, 0, name};
      tokens_.fail(fmt::format("'{}' is not declared", text::shown(text)));
    }
    const Expression meaning = *meanings_[name];
    if (!meaning.is(Kind::array) || !tokens_.is('[')) return meaning;
    tokens_.next();
    const std::int64_t index = integer();
    expect(']', "']'");
    if (index < 1 || index > meaning.size) tokens_.fail(fmt::format("{}[{}] is outside 1..{}", text::shown(text), index, meaning.size));
    return model_.elements(meaning)[static_cast<std::size_t>(index - 1)];
  }

  Expression set() {
    const cp::Stretch elements = sequence('}', false);
    const auto begin = model_.pool.begin() + elements.begin, end = begin + elements.size;
    if (std::any_of(begin, end, [](const Expression& element) { return !element.is(Kind::integer); }))
      tokens_.fail("a set has int elements");
    std::sort(begin, end, [](const Expression& a, const Expression& b) { return a.value < b.value; });
    const auto last = std::unique(begin, end, [](const Expression& a, const Expression& b) { return a.value == b.value; });
    return {Kind::set, static_cast<std::uint32_t>(last - begin), elements.begin};
  }

  /// Expressions with commas between them, up to `close`; a comma may stand after the last. Those on the stack from `base` on come first.
  cp::Stretch sequence(char close, bool note, std::optional<std::size_t> from = std::nullopt) {
    const std::size_t base = from.value_or(stack_.size());
    while (!tokens_.is(close)) {
      stack_.push_back(expression(note));
      if (tokens_.is(',')) {
        tokens_.next();
      } else if (!tokens_.is(close)) {
        tokens_.expected(close == ')' ? "',' or ')'" : close == ']' ? "',' or ']'" : "',' or '}'");
      }
    }
    tokens_.next();
    return stored(base);
  }
  /// Moves the stack from `base` on to the pool.
  cp::Stretch stored(std::size_t base) {
    const std::size_t size = stack_.size() - base;
    if (model_.pool.size() + size > std::numeric_limits<std::uint32_t>::max()) tokens_.fail("the model has more than 2^32 expressions");
    const cp::Stretch stretch{static_cast<std::uint32_t>(model_.pool.size()), static_cast<std::uint32_t>(size)};
    model_.pool.insert(model_.pool.end(), stack_.begin() + static_cast<std::ptrdiff_t>(base), stack_.end());
    stack_.resize(base);
    return stretch;
  }
  Expression interval(std::int64_t low, std::int64_t high) {
    const auto begin = static_cast<std::int64_t>(model_.pool.size());
    model_.pool.push_back(Expression::integer(low));
    model_.pool.push_back(Expression::integer(high));
    return {Kind::interval, 2, begin};
  }

  cp::Stretch annotations() {
    const std::size_t base = stack_.size();
    while (tokens_.kind() == Token::annotation) {
      tokens_.next();
      if (tokens_.kind() != Token::identifier) tokens_.expected("an annotation");
      stack_.push_back(expression(true));
    }
    return stored(base);
  }
  [[nodiscard]] cp::Name atom_of(const Expression& note) const {
    return static_cast<cp::Name>(note.is(Kind::call) ? model_.elements(note)[0].value : note.value);
  }
  [[nodiscard]] bool has(cp::Stretch notes, cp::Name atom) const {
    const auto all = model_.elements(notes);
    return std::any_of(all.begin(), all.end(), [atom](const Expression& note) { return note.is(Kind::atom) && note.value == atom; });
  }

  std::int64_t integer() {
    if (tokens_.kind() != Token::integer) tokens_.expected("a whole number");
    const std::int64_t value = tokens_.integer();
    tokens_.next();
    return value;
  }
  cp::Name identifier(const char* what) {
    if (tokens_.kind() != Token::identifier) tokens_.expected(what);
    const cp::Name name = names_(tokens_.text());
    tokens_.next();
    return name;
  }
  void expect(char other, const char* what) {
    if (!tokens_.is(other)) tokens_.expected(what);
    tokens_.next();
  }
  [[nodiscard]] std::string shown(cp::Name name) const { return text::shown(model_.text(name)); }

  cp::Model model_;
  Tokens tokens_;
  Names names_;
  std::vector<std::optional<Expression>> meanings_;  ///< [name]
  std::vector<Expression> stack_;                    ///< of sequences that are being read
  int depth_ = 0;
  bool solved_ = false;
  cp::Name is_introduced_ = 0, is_defined_ = 0, output_var_ = 0, output_array_ = 0;
};

void append_set(std::string& text, const cp::Model& model, const Expression& set) {
  const auto elements = model.elements(set);
  if (set.is(Kind::interval)) {
    fmt::format_to(std::back_inserter(text), "{}..{}", elements[0].value, elements[1].value);
    return;
  }
  text += '{';
  for (std::size_t k = 0; k < elements.size(); ++k) fmt::format_to(std::back_inserter(text), "{}{}", k == 0 ? "" : ",", elements[k].value);
  text += '}';
}

}  // namespace

cp::Model read_flatzinc(std::string_view text, const std::string& file) { return Reader(text, file).read(); }

cp::Model read_flatzinc(const std::filesystem::path& file) {
  return read_flatzinc(read_input_file(file, largest_instance_file), file.string());
}

std::string flatzinc_solution_text(const cp::Model& model, std::span<const std::int32_t> values) {
  std::string text;
  const auto append = [&](const Expression& value, bool boolean) {
    const std::int64_t number = value.is(Kind::variable) ? values[static_cast<std::size_t>(value.value)] : value.value;
    if (boolean)
      text += number != 0 ? "true" : "false";
    else
      fmt::format_to(std::back_inserter(text), "{}", number);
  };
  for (const cp::Output& output : model.outputs) {
    text += model.text(output.name);
    text += " = ";
    if (output.dimensions.empty()) {
      append(output.value, output.boolean);
    } else {
      fmt::format_to(std::back_inserter(text), "array{}d(", output.dimensions.size());
      for (const Expression& dimension : output.dimensions) {
        append_set(text, model, dimension);
        text += ',';
      }
      text += '[';
      bool first = true;
      for (const Expression& element : model.elements(output.value)) {
        if (!std::exchange(first, false)) text += ',';
        append(element, output.boolean);
      }
      text += "])";
    }
    text += ";\n";
  }
  return text + "----------\n";
}

}  // namespace vicinity
