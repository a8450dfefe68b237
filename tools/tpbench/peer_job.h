// The programs that ours is compared with, each as somebody who knows it well would start it on one
// host.
#pragma once

#include "tools/tpbench/job.h"

#include <memory>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// "openmpi" (ob1 over vader), "openmpi_ucx", "mpich", "gloo" (TCP over loopback).
const std::vector<std::string>& peer_names();

// Why a peer can't be measured: what isn't installed or built, and the remedy. "" if it can.
// `folder`: where the peers' programs lie.
std::string missing_of(const std::string& peer, const std::string& folder);

// Whether peers know the element type, the reduction and the collective of a point.
bool can_measure(const std::string& peer, const Point& point);

// The command that starts `ranks` ranks, of a host with `cpus` usable CPUs.
std::vector<std::string> peer_command(const std::string& peer, const std::string& folder, int ranks,
                                      int cpus, const std::string& rig_path);

std::unique_ptr<Job> start_peer_job(const std::string& peer, const std::string& folder, int ranks,
                                    int cpus);

}  // namespace tensorplay::tpbench
