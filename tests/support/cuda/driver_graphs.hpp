// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <utility>

namespace syncyte::test {

#define SYNCYTE_TEXT_OF(name) #name
#define SYNCYTE_GRAPH_FUNCTION(name) \
  decltype(&::name) name = reinterpret_cast<decltype(&::name)>(dlsym(library, SYNCYTE_TEXT_OF(name)))

/// The driver's functions for graphs, which Syncyte itself does not call. The driver has been used before.
struct graph_functions {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  SYNCYTE_GRAPH_FUNCTION(cuStreamBeginCapture);
  SYNCYTE_GRAPH_FUNCTION(cuStreamEndCapture);
  SYNCYTE_GRAPH_FUNCTION(cuGraphInstantiate);
  SYNCYTE_GRAPH_FUNCTION(cuGraphLaunch);
  SYNCYTE_GRAPH_FUNCTION(cuGraphDestroy);
  SYNCYTE_GRAPH_FUNCTION(cuGraphExecDestroy);
};

inline const graph_functions& graphs() {
  static const graph_functions functions;
  return functions;
}

/// A graph that can be launched, of the operations that a call queues on a stream.
class captured_graph {
 public:
  template <class Call>
  captured_graph(CUstream stream, Call&& call) {
    EXPECT_EQ(graphs().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    std::forward<Call>(call)();
    CUgraph made = nullptr;
    EXPECT_EQ(graphs().cuStreamEndCapture(stream, &made), CUDA_SUCCESS);
    EXPECT_EQ(graphs().cuGraphInstantiate(&graph_, made, 0), CUDA_SUCCESS);
    EXPECT_EQ(graphs().cuGraphDestroy(made), CUDA_SUCCESS);
  }
  ~captured_graph() { EXPECT_EQ(graphs().cuGraphExecDestroy(graph_), CUDA_SUCCESS); }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;

  void launch(CUstream stream) const { EXPECT_EQ(graphs().cuGraphLaunch(graph_, stream), CUDA_SUCCESS); }

 private:
  CUgraphExec graph_ = nullptr;
};

}  // namespace syncyte::test
