// What to say about the exception that is being handled.
#pragma once

#include <string>

namespace tensorplay {

// "InvalidArgument: no such rank", "std::bad_alloc: std::bad_alloc", "int, which isn't a
// std::exception". Classes of this library are named without its namespace. For handlers only.
std::string text_of_current_exception();

}  // namespace tensorplay
