#include <tensorplay/distributed/algorithms/join_kwargs.h>

#include <cstdio>

namespace tensorplay::distributed::algorithms {
namespace {

using Value = JoinKwargs::Value;

const char* type_name(const Value& value) {
  constexpr const char* kNames[] = {"bool", "integer", "floating-point number", "string"};
  return kNames[value.index()];
}

std::string text_of(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  char number[32];
  std::snprintf(number, sizeof(number), "%.17g", std::get<double>(value));
  return number;
}

template <typename T>
T typed(std::string_view name, const Value& value) {
  if (const auto* match = std::get_if<T>(&value)) return *match;
  throw InvalidArgument("Join argument '" + std::string(name) + "' has the type " +
                        type_name(value) + ", but " + type_name(Value(T{})) + " is expected");
}

}  // namespace

JoinKwargs::JoinKwargs(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (!entries_.emplace(argument.name, Entry{argument.value}).second) {
      throw InvalidArgument("Join argument '" + argument.name + "' is passed twice");
    }
  }
}

const Value* JoinKwargs::find(std::string_view name) const {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return nullptr;
  entry->second.known = true;
  return &entry->second.value;
}

bool JoinKwargs::get(std::string_view name, bool fallback) const {
  const Value* value = find(name);
  return value == nullptr ? fallback : typed<bool>(name, *value);
}

std::int64_t JoinKwargs::get(std::string_view name, std::int64_t fallback) const {
  const Value* value = find(name);
  return value == nullptr ? fallback : typed<std::int64_t>(name, *value);
}

double JoinKwargs::get(std::string_view name, double fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return static_cast<double>(*integer);
  return typed<double>(name, *value);
}

std::string JoinKwargs::get(std::string_view name, const char* fallback) const {
  const Value* value = find(name);
  return value == nullptr ? std::string(fallback) : typed<std::string>(name, *value);
}

bool JoinKwargs::contains(std::string_view name) const {
  return find(name) != nullptr;
}

std::string JoinKwargs::unknown_names() const {
  std::string names;
  for (const auto& [name, entry] : entries_) {
    if (!entry.known) names += (names.empty() ? "'" : ", '") + name + "'";
  }
  return names;
}

std::string JoinKwargs::to_string() const {
  std::string text;
  for (const auto& [name, entry] : entries_) {
    text += (text.empty() ? "" : ", ") + name + "=" + text_of(entry.value);
  }
  return text;
}

}  // namespace tensorplay::distributed::algorithms
