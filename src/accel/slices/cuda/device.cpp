#include "accel/slices/device.hpp"

#include "core/base/error.hpp"

#if SLABMARK_WITH_CUDA

#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "accel/slices/cuda/gather.hpp"

namespace slabmark::slice {

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the program's next look for errors does not find this one
  throw IoError(
      fmt::format("{} failed: {}; see whether the GPU is in use by others or out of "
                  "memory (nvidia-smi).",
                  call, cudaGetErrorString(status)));
}

int count_gpus() {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    throw InputError("There is no GPU here that CUDA can use; keep the fields in host memory.");
  }
  return gpus;
}

int current_gpu() {
  int gpu = 0;
  check(cudaGetDevice(&gpu), "cudaGetDevice");
  return gpu;
}

/// Makes a GPU the current one of this thread while it lives: kernels start on no other. The
/// program may have made another one current since, and finds it so again.
class Current {
 public:
  explicit Current(int gpu) : before_(current_gpu()) {
    if (gpu == before_) return;
    check(cudaSetDevice(gpu), "cudaSetDevice");
    changed_ = true;
  }
  ~Current() {
    if (changed_) cudaSetDevice(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_;
  bool changed_ = false;
};

/// True if the rows only have to be copied, no further apart than CUDA copies.
bool is_a_copy(const Points& points, ElementType from, ElementType to) {
  return from == to && points.column_stride == 1 && points.row_stride >= points.columns &&
         points.row_stride * size_of(from) <= std::numeric_limits<int>::max();
}

/// Its stream waits for the default one, as CUDA's blocking streams do. The kernel writes to pinned
/// memory of the host by itself: a copy after it, out of memory of the GPU, takes 1.1 to 1.7 times
/// as long. Rows that only have to be copied are left to CUDA, whose copy saves the kernel's start.
/// See studies/gpu_slices.
class CudaDevice : public Device {
 public:
  explicit CudaDevice(int gpu) : gpu_(gpu) {
    const Current current(gpu_);
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
  }
  ~CudaDevice() override {
    for (const auto& [mark, event] : marks_) cudaEventDestroy(event);
    for (auto* event : waited_for_) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::byte* allocate(std::uint64_t bytes) override {
    const Current current(gpu_);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) noexcept override { cudaFree(memory); }
  std::byte* allocate_pinned(std::uint64_t bytes) override {
    const Current current(gpu_);
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    return static_cast<std::byte*>(memory);
  }
  void release_pinned(std::byte* memory) noexcept override { cudaFreeHost(memory); }

  void gather(const void* source, ElementType from, const Points& points, std::byte* target,
              ElementType to, std::uint64_t pitch) override {
    const Current current(gpu_);
    if (is_a_copy(points, from, to)) {
      const auto element = size_of(from);
      check(cudaMemcpy2DAsync(target, pitch,
                              static_cast<const std::byte*>(source) + points.first * element,
                              points.row_stride * element, points.columns * element, points.rows,
                              cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpy2DAsync");
      return;
    }
    check(launch_gather(source, from, points, target, to, pitch, stream_), "The gather kernel");
  }
  void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) override {
    const Current current(gpu_);
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::uint64_t mark() override {
    const Current current(gpu_);
    cudaEvent_t event = nullptr;
    if (waited_for_.empty()) {
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    } else {
      event = waited_for_.back();
      waited_for_.pop_back();
    }
    marks_.emplace(++last_mark_, event);
    check(cudaEventRecord(event, stream_), "cudaEventRecord");
    return last_mark_;
  }
  void wait(std::uint64_t mark) override {
    const auto found = marks_.find(mark);
    if (found == marks_.end()) return;
    waited_for_.push_back(found->second);
    marks_.erase(found);
    check(cudaEventSynchronize(waited_for_.back()), "cudaEventSynchronize");
  }

 private:
  int gpu_;
  std::map<std::uint64_t, cudaEvent_t> marks_;
  std::vector<cudaEvent_t> waited_for_;  ///< to be used again
  std::uint64_t last_mark_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::shared_ptr<Device> cuda_device() {
  count_gpus();
  return std::make_shared<CudaDevice>(current_gpu());
}

std::shared_ptr<Device> cuda_device(std::uint64_t number) {
  const auto gpus = static_cast<std::uint64_t>(count_gpus());
  return std::make_shared<CudaDevice>(static_cast<int>(number % gpus));
}

}  // namespace slabmark::slice

#else

namespace slabmark::slice {

std::shared_ptr<Device> cuda_device() {
  throw InputError(
      "This build has no CUDA, because no CUDA compiler was found at configure time; keep the "
      "fields in host memory.");
}

std::shared_ptr<Device> cuda_device(std::uint64_t) { return cuda_device(); }

}  // namespace slabmark::slice

#endif
