#include "accel/c_library/io_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace slabmark::rearrange {

namespace {

constexpr int command_tag = 11, answer_tag = 12;

// Words of a message. So small a one is sent off whether the I/O rank looks for it or not: a rank
// that commands must not wait for those that still write.
constexpr std::size_t words_of_message = 256;

constexpr std::size_t longest_message = 1000;

std::vector<int> last_of_equal_shares(int ranks, int count) {
  std::vector<int> chosen;
  for (std::int64_t i = count; i-- > 0;) {
    chosen.push_back(ranks - 1 - static_cast<int>(i * ranks / count));
  }
  return chosen;
}

std::unique_ptr<Comm> split(const Comm& all, bool first) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(all.get(), first ? 0 : 1, all.rank(), &part), "MPI_Comm_split");
  return Comm::taking_over(part);
}

bool is_message_there(const Comm& comm, int source, int tag) {
  int there = 0;
  check_mpi(MPI_Iprobe(source, tag, comm.get(), &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
  return there != 0;
}

}  // namespace

IoRanks::IoRanks(const Comm& all, int count)
    : all_(all),
      ranks_(last_of_equal_shares(all.size(), count)),
      has_me_(std::ranges::binary_search(ranks_, all.rank())),
      group_(split(all, has_me_)) {}

// A core of a busy node may be needed by others while there is nothing to do for a while.
void IoRanks::wait_until(const std::function<bool()>& there) {
  const auto start = std::chrono::steady_clock::now();
  while (!there()) {
    if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

// Rank 0 is never an I/O rank.
int IoRanks::root_of(bool io_ranks) const { return io_ranks ? ranks_.front() : 0; }

void IoRanks::send(const Message& message) const {
  if (!group_->is_root()) return;
  Message sent{static_cast<std::int64_t>(message.size())};
  sent.insert(sent.end(), message.begin(), message.end());
  for (std::size_t begin = 0; begin < sent.size(); begin += words_of_message) {
    const std::size_t count = std::min(words_of_message, sent.size() - begin);
    for (const int rank : ranks_) {
      check_mpi(MPI_Send(sent.data() + begin, static_cast<int>(count), MPI_INT64_T, rank,
                         command_tag, all_.get()),
                "MPI_Send");
    }
  }
}

Message IoRanks::receive() const {
  Message message;
  std::size_t expected = 1;
  do {
    wait_until([&] { return is_message_there(all_, root_of(false), command_tag); });
    const std::size_t before = message.size();
    message.resize(before + words_of_message);
    MPI_Status status;
    int count = 0;
    check_mpi(MPI_Recv(message.data() + before, words_of_message, MPI_INT64_T, root_of(false),
                       command_tag, all_.get(), &status),
              "MPI_Recv");
    check_mpi(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
    message.resize(before + static_cast<std::size_t>(count));
    expected = 1 + static_cast<std::size_t>(message.front());
  } while (message.size() < expected);
  message.erase(message.begin());
  return message;
}

void IoRanks::tell(const Answer& answer) const {
  if (!group_->is_root()) return;
  const std::size_t length = std::min(answer.message.size(), longest_message);
  std::vector<char> bytes(2 * sizeof(std::int64_t) + length);
  std::memcpy(bytes.data(), &answer.file, sizeof answer.file);
  std::memcpy(bytes.data() + sizeof answer.file, &answer.code, sizeof answer.code);
  std::memcpy(bytes.data() + 2 * sizeof(std::int64_t), answer.message.data(), length);
  check_mpi(MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root_of(false),
                     answer_tag, all_.get()),
            "MPI_Send");
}

std::optional<IoRanks::Answer> IoRanks::answer(bool waits) const {
  const auto there = [&] { return is_message_there(all_, root_of(true), answer_tag); };
  if (waits) {
    wait_until(there);
  } else if (!there()) {
    return std::nullopt;
  }
  std::vector<char> bytes(2 * sizeof(std::int64_t) + longest_message);
  MPI_Status status;
  int count = 0;
  check_mpi(MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root_of(true),
                     answer_tag, all_.get(), &status),
            "MPI_Recv");
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  Answer answer;
  std::memcpy(&answer.file, bytes.data(), sizeof answer.file);
  std::memcpy(&answer.code, bytes.data() + sizeof answer.file, sizeof answer.code);
  answer.message.assign(bytes.begin() + 2 * sizeof(std::int64_t), bytes.begin() + count);
  return answer;
}

}  // namespace slabmark::rearrange
