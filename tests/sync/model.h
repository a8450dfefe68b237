// What the explorers step: a few machines on one memory, each of whose steps is one access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tensorplay::sync {

class Model {
 public:
  virtual ~Model() = default;

  virtual int machine_count() const = 0;
  // For schedules in messages: "call0", "kill2", ...
  virtual std::string machine_name(int machine) const = 0;
  // Whether the machine's steps are faults: they may happen at any time, and nothing may need them.
  virtual bool is_fault(int machine) const = 0;

  // One step; nothing where the machine has to wait. What is wrong, "" if nothing.
  virtual std::string step(int machine) = 0;
  // Whether everybody has got to the end.
  virtual bool done() const = 0;

  // The whole state, of memory and machines: what was saved can be gone on from.
  virtual std::string save() const = 0;
  virtual void restore(const std::string& saved) = 0;
};

// States as texts: seven bits of a word per byte, low ones first, since most words are small.
void append_word(std::string& text, std::uint64_t word);
// Reads the word at `at`, and goes on behind it.
std::uint64_t take_word(const std::string& text, std::size_t& at);

}  // namespace tensorplay::sync
