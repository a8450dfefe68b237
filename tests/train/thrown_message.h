// The text of an error, for tests of what users read.
#pragma once

#include <tensorplay/error.h>

#include <string>

namespace tensorplay::train {

// The message of the InvalidArgument that `action` throws; "nothing thrown" if it throws none.
template <typename Action>
std::string thrown_message(Action&& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace tensorplay::train
