#include "slice/device.hpp"

#include "base/error.hpp"

#if SLABMARK_WITH_CUDA

#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "slice/cuda/gather.hpp"

namespace slabmark::slice {

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw IoError(
      fmt::format("{} failed: {}; see whether the GPU is in use by others or out of "
                  "memory (nvidia-smi).",
                  call, cudaGetErrorString(status)));
}

/// Which of a node's GPUs this rank takes, by what launchers tell of the rank's place on its node.
int chosen_gpu(int gpus) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value) % gpus;
  }
  return 0;
}

/// Gathers run in one stream and copies in another, so that the copy of one cut goes on while the
/// points of the next are gathered. Both wait for the default stream, as CUDA's blocking streams
/// do.
class CudaDevice : public Device {
 public:
  CudaDevice() {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      throw InputError("There is no GPU here that CUDA can use; keep the fields in host memory.");
    }
    check(cudaSetDevice(chosen_gpu(gpus)), "cudaSetDevice");
    check(cudaStreamCreate(&gathers_), "cudaStreamCreate");
    check(cudaStreamCreate(&copies_), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&gathered_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~CudaDevice() override {
    for (const auto& [mark, event] : marks_) cudaEventDestroy(event);
    cudaEventDestroy(gathered_);
    cudaStreamDestroy(copies_);
    cudaStreamDestroy(gathers_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::byte* allocate(std::uint64_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) noexcept override { cudaFree(memory); }
  std::byte* allocate_pinned(std::uint64_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    return static_cast<std::byte*>(memory);
  }
  void release_pinned(std::byte* memory) noexcept override { cudaFreeHost(memory); }

  void gather(const void* source, ElementType from, const Points& points, std::byte* target,
              ElementType to) override {
    check(launch_gather(source, from, points, target, to, gathers_), "The gather kernel");
  }
  void copy_out(const std::byte* from, std::uint64_t row_bytes, std::uint64_t rows, std::byte* to,
                std::uint64_t pitch) override {
    check(cudaEventRecord(gathered_, gathers_), "cudaEventRecord");
    check(cudaStreamWaitEvent(copies_, gathered_, 0), "cudaStreamWaitEvent");
    check(cudaMemcpy2DAsync(to, pitch, from, row_bytes, row_bytes, rows, cudaMemcpyDeviceToHost,
                            copies_),
          "cudaMemcpy2DAsync");
  }
  void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::uint64_t mark() override {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    marks_.emplace(++last_mark_, event);
    check(cudaEventRecord(event, copies_), "cudaEventRecord");
    return last_mark_;
  }
  void wait(std::uint64_t mark) override {
    const auto found = marks_.find(mark);
    if (found == marks_.end()) return;
    const auto event = found->second;
    marks_.erase(found);
    const auto status = cudaEventSynchronize(event);
    cudaEventDestroy(event);
    check(status, "cudaEventSynchronize");
  }

 private:
  std::map<std::uint64_t, cudaEvent_t> marks_;
  std::uint64_t last_mark_ = 0;
  cudaStream_t gathers_ = nullptr;
  cudaStream_t copies_ = nullptr;
  cudaEvent_t gathered_ = nullptr;
};

}  // namespace

std::shared_ptr<Device> cuda_device() { return std::make_shared<CudaDevice>(); }

}  // namespace slabmark::slice

#else

namespace slabmark::slice {

std::shared_ptr<Device> cuda_device() {
  throw InputError(
      "This build has no CUDA, because no CUDA compiler was found at configure time; keep the "
      "fields in host memory.");
}

}  // namespace slabmark::slice

#endif
