// Where the ranks of a Gloo job find each other's addresses: memory that forked ranks share, so
// that no file is left behind, however they end.
#pragma once

#include <gloo/rendezvous/store.h>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// Made before the fork; each rank then sets its own two keys, once, as Gloo's connectFullMesh does:
// "0" for its addresses, "rank_0" for its host. Throws std::system_error.
class SharedStore : public gloo::rendezvous::Store {
 public:
  explicit SharedStore(int ranks);
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;
  ~SharedStore() override;

  // Throws Error for a key that is none of a rank, and for data that is too long.
  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;  // waits for the key
  void wait(const std::vector<std::string>& keys) override;
  // Throws Error when the time is over.
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

 private:
  struct Entry;

  Entry& entry(const std::string& key) const;
  std::size_t bytes() const noexcept;

  int ranks_;
  Entry* entries_;
};

}  // namespace tensorplay::tpbench
