// What a user's first program may look like: it includes public headers only.

#include <tensorplay/error.h>

#include <cstdio>
#include <string>

int main() {
  try {
    throw tensorplay::InvalidArgument("root 7 is outside the group");
  } catch (const tensorplay::Error& error) {
    std::puts(error.what());
    return std::string(error.what()).empty() ? 1 : 0;
  }
}
