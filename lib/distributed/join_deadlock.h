// A deadlock between two groups, found by one look at the words of the rank that is waited for.
//
//     rank M   has joined in a context of group A, and sleeps until all members of A have joined
//     rank W   is a member of A, hasn't joined there, and waits for M in another group, B
//
// M makes no call before W has joined, and W doesn't join before M has made its call: without this
// look both would wait until their time is up. Longer circles, by way of third ranks, aren't looked
// for: they end by the time-out.
#pragma once

#include <optional>
#include <string>

namespace tensorplay::distributed {

class GroupEngine;

// What to say if the rank of `waiting`'s engine, which can do nothing else meanwhile, waits in vain
// for the member; nothing if it doesn't, or if that can't be told for sure yet.
std::optional<std::string> describe_join_deadlock(GroupEngine& waiting, int member);

}  // namespace tensorplay::distributed
