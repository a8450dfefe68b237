// Named arguments that a Join passes to the hooks of all its Joinables.
#pragma once

#include <tensorplay/error.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tensorplay::distributed::algorithms {

// A map from names to values of type bool, integer, floating-point or string. All Joinables of a
// context receive the same one; each takes what it knows. A name that no Joinable took is an
// InvalidArgument when the context is entered: a misspelt argument is never silent. All ranks must
// pass the same arguments.
//
//     Join join({model}, {.kwargs = {{"divide_by_initial_world_size", false}}});
//
//     std::unique_ptr<JoinHook> join_hook(const JoinKwargs& kwargs) override {
//       const bool by_size = kwargs.get("divide_by_initial_world_size", true);
//       ...
//     }
class JoinKwargs {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  struct Argument {
    Argument(std::string name_, bool value_) : name(std::move(name_)), value(value_) {}
    Argument(std::string name_, int value_)
        : name(std::move(name_)), value(static_cast<std::int64_t>(value_)) {}
    Argument(std::string name_, std::int64_t value_) : name(std::move(name_)), value(value_) {}
    Argument(std::string name_, double value_) : name(std::move(name_)), value(value_) {}
    Argument(std::string name_, const char* value_)
        : name(std::move(name_)), value(std::string(value_)) {}
    Argument(std::string name_, std::string value_)
        : name(std::move(name_)), value(std::move(value_)) {}

    std::string name;
    Value value;
  };

  JoinKwargs() = default;
  JoinKwargs(std::initializer_list<Argument> arguments);

  // The value passed under `name`, or `fallback` if there is none; marks the name as known. An
  // integer is accepted where a double is asked for. Throws InvalidArgument, naming both types,
  // for a value of another type.
  bool get(std::string_view name, bool fallback) const;
  std::int64_t get(std::string_view name, std::int64_t fallback) const;
  std::int64_t get(std::string_view name, int fallback) const {
    return get(name, static_cast<std::int64_t>(fallback));
  }
  double get(std::string_view name, double fallback) const;
  std::string get(std::string_view name, const char* fallback) const;

  // Whether an argument of this name was passed; marks it as known.
  bool contains(std::string_view name) const;

  // The names that nobody has asked for so far: "'a', 'b'"; empty if there are none.
  std::string unknown_names() const;

  // The names and values in a fixed form: equal texts, equal arguments.
  std::string to_string() const;

 private:
  struct Entry {
    Value value;
    mutable bool known = false;
  };
  const Value* find(std::string_view name) const;

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace tensorplay::distributed::algorithms
