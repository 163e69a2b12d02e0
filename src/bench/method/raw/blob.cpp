#include <algorithm>
#include <cstring>
#include <map>

#include "bench/method/raw/blob_file.hpp"
#include "bench/method/raw/posix_file.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/pattern/transfer_pieces.hpp"

namespace slabmark {

namespace {

/// The private layout, which only its own reader understands: no rank waits for another's data, and
/// nothing is put in order. Canonical methods are compared with the gain of others by it.
class Blob : public PosixFileMethod {
 public:
  explicit Blob(const MethodContext& context) : PosixFileMethod(context) {}

  void open(const std::string& path) override { finished_ = std::make_unique<BlobFile>(path); }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      posted_.push_back({transfers[i], buffers[i], round});
    }
  }

  void flush() override {
    if (finished_) {
      read_all();
    } else {
      write_all();
    }
    posted_.clear();
  }

  void close() override {
    if (finished_) {
      finished_.reset();
      return;
    }
    write_blob_index(context_.comm, file_, end_, context_.pattern, index_);
    file_.close();
  }

  Json effective() const override {
    return {{"calls", {{"pwrite", calls_}}}, {"maps", index_.maps.size()}};
  }

 private:
  struct Posted {
    Transfer transfer;
    std::byte* buffer;
    std::uint64_t round;
  };

  std::uint64_t element_bytes(const Posted& posted) const {
    return size_of(context_.pattern.datasets[posted.transfer.dataset].type);
  }

  void write_all() {
    std::uint64_t bytes = 0;
    for (const Posted& posted : posted_) {
      bytes += posted.transfer.file->element_count() * element_bytes(posted);
    }
    const std::uint64_t begin = end_ + context_.comm.sum_before(bytes);
    end_ += context_.comm.sum(bytes);
    std::uint64_t offset = begin;
    for (const Posted& posted : posted_) {
      const std::uint64_t size = posted.transfer.file->element_count() * element_bytes(posted);
      if (size == 0) continue;
      index_.entries.push_back({posted.transfer.dataset, posted.transfer.time,
                                map_of(posted.transfer.file), offset, posted.round});
      if (posted.transfer.buffer) {
        write_with_gaps(posted, offset, size);
      } else {
        write_joined(posted.buffer, offset, size);
      }
      offset += size;
    }
    write_joined(nullptr, 0, 0);
  }

  // Buffers that follow each other in memory follow each other in the file.
  void write_joined(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) {
    if (memory != nullptr && memory == held_.memory + held_.bytes &&
        offset == held_.offset + held_.bytes) {
      held_.bytes += bytes;
      return;
    }
    if (held_.bytes > 0) {
      file_.write_at(held_.offset, held_.memory, held_.bytes);
      ++calls_;
    }
    held_ = {memory, offset, bytes};
  }

  void write_with_gaps(const Posted& posted, std::uint64_t offset, std::uint64_t bytes) {
    std::vector<std::byte> dense(bytes);
    const std::uint64_t size = element_bytes(posted);
    auto* to = dense.data();
    for_each_piece(posted.transfer, [&](const Piece& piece) {
      std::memcpy(to, posted.buffer + piece.buffer * size, piece.length * size);
      to += piece.length * size;
    });
    file_.write_at(offset, dense.data(), bytes);
    ++calls_;
  }

  std::uint64_t map_of(const SelectionPtr& selection) {
    const auto [entry, is_new] = map_of_.try_emplace(selection, index_.maps.size());
    if (is_new) {
      RunList& runs = index_.maps.emplace_back();
      selection->for_each_run([&](Run run) { runs.push_back(run); });
    }
    return entry->second;
  }

  void read_all() {
    for (const Posted& posted : posted_) {
      finished_->read_elements(posted.transfer.dataset, posted.transfer.time,
                               pieces_in_file_order(posted.transfer), element_bytes(posted),
                               posted.buffer);
    }
  }

  struct Held {
    std::byte* memory = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  std::unique_ptr<BlobFile> finished_;
  std::vector<Posted> posted_;
  Held held_;
  std::uint64_t end_ = blob_data_begin;
  BlobIndex index_;
  std::map<SelectionPtr, std::uint64_t> map_of_;
};

}  // namespace

MethodInfo blob_method() {
  return {.name = "blob",
          .summary = "private layout: each rank's data as it lies in memory, one pwrite per flush",
          .format = FileFormat::blob,
          .kind = MethodKind::yardstick,
          .supports = fits_raw,
          .make = make_method<Blob>};
}

}  // namespace slabmark
