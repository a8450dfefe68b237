// What a rank collects instead of asserting.
#pragma once

#include "tests/worlds/worlds.h"

#include <concepts>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace tensorplay::worlds {

// A list of what was found wrong, as one text for the parent. After the first few it only counts.
class Findings {
 public:
  void add(const std::string& finding) {
    if (++count_ <= kKept) text_ += (text_.empty() ? "" : "; ") + finding;
  }

  void expect(bool holds, std::string_view what) {
    if (!holds) add("not so: " + std::string(what));
  }

  template <typename A, typename B>
    requires std::equality_comparable_with<A, B>
  void equal(const A& have, const B& want, std::string_view what) {
    if (have == want) return;
    std::ostringstream line;
    line << what << " is " << have << ", not " << want;
    add(line.str());
  }

  void contains(std::string_view text, std::string_view part, std::string_view what) {
    if (text.find(part) != std::string_view::npos) return;
    add(std::string(what) + " is \"" + std::string(text) + "\", which lacks \"" +
        std::string(part) + "\"");
  }

  // Calls `action`, which should throw an E; gives the text of that, "" if it didn't.
  template <typename E, typename Action>
  std::string throws(Action&& action, std::string_view what) {
    try {
      std::forward<Action>(action)();
    } catch (const E& error) {
      return error.what();
    } catch (...) {
      add(std::string(what) + " threw " + describe(std::current_exception()));
      return "";
    }
    add(std::string(what) + " didn't throw");
    return "";
  }

  bool empty() const noexcept { return count_ == 0; }

  std::string text() const {
    if (count_ <= kKept) return text_;
    return text_ + "; and " + std::to_string(count_ - kKept) + " more";
  }

 private:
  static constexpr int kKept = 10;
  int count_ = 0;
  std::string text_;
};

}  // namespace tensorplay::worlds
