#include "lib/base/exception_text.h"

#include <cxxabi.h>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <typeinfo>

namespace tensorplay {
namespace {

std::string class_name_of_current_exception() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception of another language";
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), &std::free);
  std::string_view text = name ? name.get() : type->name();
  constexpr std::string_view ours = "tensorplay::";
  if (text.starts_with(ours)) text.remove_prefix(ours.size());
  return std::string(text);
}

}  // namespace

std::string text_of_current_exception() {
  const std::string name = class_name_of_current_exception();
  try {
    throw;
  } catch (const std::exception& error) {
    return name + ": " + error.what();
  } catch (...) {
    return name + ", which isn't a std::exception";
  }
}

}  // namespace tensorplay
