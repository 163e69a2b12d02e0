// Programs of PnetCDF's calls whose order matters, which check all that they read and the file that
// they leave, whichever library makes the calls.
//
//     pnetcdf_order <file> <seed> <programs> [overlaps]
//
// Seed 0 has the programs of a list: one rank puts what another one put before, by each two kinds
// of calls, with each thing that may be between them. Other seeds draw them. All ranks draw the
// calls of all ranks, so each knows which values are right:
//   * collective calls happen in their order;
//   * of the calls of one wait, no two name the same element, but for gets of different ranks: what
//     PnetCDF makes of that is open. With `overlaps` they do, by what the drop-in promises: puts go
//     before gets, the highest rank's stays, and of its puts the last;
//   * in independent mode a rank leaves alone what another one puts; barriers are around it.
// MPI-IO must be ROMIO or as good: OMPIO loses elements.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

namespace {

using Offsets = std::vector<MPI_Offset>;

constexpr MPI_Offset most_records = 6;
constexpr int unknown = -1;

int rank, ranks, ncid, wrong, operation;
unsigned seed;
bool overlaps;
MPI_Offset records;  // of the file
std::mt19937 engine;

int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
bool once_in(int n) { return below(n) == 0; }

void check(int error, const char* call) {
  if (error == NC_NOERR) return;
  std::fprintf(stderr, "seed %u, operation %d, rank %d: %s: %s\n", seed, operation, rank, call,
               ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Variable {
  int id = 0;
  nc_type type = NC_INT;
  bool recorded = false;
  Offsets lengths;          // that of records is the most that there may be
  std::vector<int> values;  // of each element; or unknown
  std::vector<int> putter;  // of each element in the step at hand: a rank, or nobody
  std::vector<unsigned> getters;

  MPI_Offset length(std::size_t d, bool puts) const {
    return recorded && d == 0 && !puts ? records : lengths[d];
  }
};

constexpr int nobody = -1;
std::vector<Variable> variables;

/// What one rank asks for of one variable, in one box or several.
struct Request {
  Request(Variable& of, bool is_put, int by) : variable(&of), puts(is_put), of_rank(by) {}

  Variable* variable;
  bool puts;
  int of_rank;
  bool several = false;  // boxes: varn
  std::vector<Offsets> starts, counts;
  Offsets stride;
  std::vector<std::size_t> places;
  std::vector<int> values;  // that are put, or expected
  bool as_double = false;   // in memory
  std::vector<double> doubles;
  std::vector<int> ints;

  void* memory() {
    return as_double ? static_cast<void*>(doubles.data()) : static_cast<void*>(ints.data());
  }
  MPI_Datatype type() const { return as_double ? MPI_DOUBLE : MPI_INT; }
  MPI_Offset elements() const { return static_cast<MPI_Offset>(places.size()); }
};

void add_places(Request& request, const Offsets& start, const Offsets& count) {
  const auto& lengths = request.variable->lengths;
  Offsets index(lengths.size(), 0);
  for (const MPI_Offset one : count) {
    if (one == 0) return;
  }
  for (bool more = true; more;) {
    MPI_Offset place = 0;
    for (std::size_t d = 0; d < lengths.size(); ++d) {
      place = place * lengths[d] + start[d] + index[d] * request.stride[d];
    }
    request.places.push_back(static_cast<std::size_t>(place));
    more = false;
    for (std::size_t d = lengths.size(); d-- > 0 && !more;) {
      more = ++index[d] < count[d];
      if (!more) index[d] = 0;
    }
  }
}

/// True if the rules of a step allow an element. `alone`: what the ranks do is not collective.
bool is_allowed(const Request& request, std::size_t place, bool alone) {
  const Variable& its = *request.variable;
  const unsigned me = 1U << request.of_rank;
  const bool puts_it = its.putter[place] == request.of_rank;
  if (alone) {
    const bool is_others = its.putter[place] != nobody && !puts_it;
    return !is_others && (!request.puts || (its.getters[place] & ~me) == 0);
  }
  if (overlaps) return true;
  return its.putter[place] == nobody &&
         (request.puts ? its.getters[place] == 0 : (its.getters[place] & me) == 0);
}

void take(const Request& request) {
  for (const std::size_t place : request.places) {
    if (request.puts) {
      request.variable->putter[place] = request.of_rank;
    } else {
      request.variable->getters[place] |= 1U << request.of_rank;
    }
  }
}

void begin_step() {
  ++operation;
  for (Variable& one : variables) {
    one.putter.assign(one.values.size(), nobody);
    one.getters.assign(one.values.size(), 0);
  }
}

enum Kind { one_box, strided_box, boxes, kinds };
Kind draw_kind() { return static_cast<Kind>(below(kinds)); }

/// Of no elements where nothing was found. `posted`: by a nonblocking call.
Request draw(Variable& variable, bool puts, int of_rank, bool alone, bool posted, Kind kind) {
  Request request(variable, puts, of_rank);
  const std::size_t dims = variable.lengths.size();
  // What was never put may be no integer.
  const bool is_real = variable.type == NC_FLOAT || variable.type == NC_DOUBLE;
  request.as_double = once_in(2) || (is_real && !puts);
  const bool strided = kind == strided_box;
  request.several = kind == boxes;
  request.stride.assign(dims, 1);
  const int wanted = request.several ? 1 + below(6) : 1;
  for (int tries = 0; tries < 10 && static_cast<int>(request.starts.size()) < wanted; ++tries) {
    Offsets start(dims), count(dims);
    Request box(variable, puts, of_rank);
    box.stride.assign(dims, 1);
    for (std::size_t d = 0; d < dims; ++d) {
      const bool of_records = variable.recorded && d == 0;
      MPI_Offset length = variable.length(d, puts && !alone);
      if (of_records && puts && !alone) length = std::min(length, records + 2);
      if (length == 0) return request;
      start[d] = below(static_cast<int>(length));
      // PnetCDF 1.12.3 loses elements of records that a blocking call names with a stride.
      if (strided && (posted || !of_records)) box.stride[d] = 1 + below(3);
      const MPI_Offset most = (length - 1 - start[d]) / box.stride[d] + 1;
      // PnetCDF 1.12.3 overruns its memory where a box of varn has several records.
      count[d] = of_records && request.several ? 1 : 1 + below(static_cast<int>(most));
    }
    add_places(box, start, count);
    bool is_good = true;
    for (const std::size_t place : box.places) {
      is_good &= is_allowed(box, place, alone) &&
                 std::ranges::find(request.places, place) == request.places.end();
    }
    if (!is_good) continue;
    if (strided) request.stride = box.stride;
    request.starts.push_back(start);
    request.counts.push_back(count);
    request.places.insert(request.places.end(), box.places.begin(), box.places.end());
  }
  take(request);
  return request;
}

/// One box of no elements, for a rank that only takes part.
void make_whole(Request& request) {
  if (!request.starts.empty()) return;
  request.starts.push_back(Offsets(request.variable->lengths.size(), 0));
  request.counts.push_back(Offsets(request.variable->lengths.size(), 0));
}

int next_value(const Variable& variable) {
  static int last = 0;
  last = (last + 1) % 30000;
  return variable.type == NC_BYTE ? 1 + last % 100 : 1 + last;
}

/// Puts happen, as far as the right values go.
void apply(std::vector<Request>& requests) {
  for (Request& request : requests) {
    if (!request.puts) continue;
    for (const std::size_t place : request.places) {
      request.values.push_back(next_value(*request.variable));
      request.variable->values[place] = request.values.back();
      if (!request.variable->recorded) continue;
      const auto in_record = request.variable->values.size() / most_records;
      records = std::max(records, static_cast<MPI_Offset>(place / in_record) + 1);
    }
  }
  for (Request& request : requests) {
    if (!request.puts) {
      for (const std::size_t place : request.places) {
        request.values.push_back(request.variable->values[place]);
      }
    }
    request.doubles.assign(request.places.size() + 1, -7);
    request.ints.assign(request.places.size() + 1, -7);
    if (!request.puts) continue;
    std::ranges::copy(request.values, request.doubles.begin());
    std::ranges::copy(request.values, request.ints.begin());
  }
}

void compare(Request& request) {
  if (request.puts) return;
  for (std::size_t i = 0; i < request.places.size(); ++i) {
    const double got = request.as_double ? request.doubles[i] : request.ints[i];
    if (request.values[i] == unknown || got == request.values[i]) continue;
    if (++wrong > 3) continue;
    std::printf("seed %u, operation %d, rank %d: element %zu of variable %d is %g, and not %d\n",
                seed, operation, rank, request.places[i], request.variable->id, got,
                request.values[i]);
  }
}

/// Makes `call(starts, counts)` with what varn takes.
template <class Call>
int by_boxes(Request& request, const Call& call) {
  std::vector<MPI_Offset*> starts, counts;
  for (auto& start : request.starts) starts.push_back(start.data());
  for (auto& count : request.counts) counts.push_back(count.data());
  return call(static_cast<int>(starts.size()), starts.data(), counts.data());
}

int move_all(Request& request) {
  make_whole(request);
  const int id = request.variable->id;
  void* const memory = request.memory();
  const auto count = request.elements();
  const auto type = request.type();
  if (request.several) {
    return by_boxes(request, [&](int number, MPI_Offset** starts, MPI_Offset** counts) {
      return request.puts
                 ? ncmpi_put_varn_all(ncid, id, number, starts, counts, memory, count, type)
                 : ncmpi_get_varn_all(ncid, id, number, starts, counts, memory, count, type);
    });
  }
  const auto *const start = request.starts[0].data(), *const counts = request.counts[0].data();
  const auto* const stride = request.stride.data();
  return request.puts ? ncmpi_put_vars_all(ncid, id, start, counts, stride, memory, count, type)
                      : ncmpi_get_vars_all(ncid, id, start, counts, stride, memory, count, type);
}

int move_alone(Request& request) {
  if (request.starts.empty()) return NC_NOERR;
  const int id = request.variable->id;
  const auto count = request.elements();
  if (request.several) {
    return by_boxes(request, [&](int number, MPI_Offset** starts, MPI_Offset** counts) {
      return request.puts ? ncmpi_put_varn(ncid, id, number, starts, counts, request.memory(),
                                           count, request.type())
                          : ncmpi_get_varn(ncid, id, number, starts, counts, request.memory(),
                                           count, request.type());
    });
  }
  const auto *const start = request.starts[0].data(), *const counts = request.counts[0].data();
  const auto* const stride = request.stride.data();
  return request.puts ? ncmpi_put_vars(ncid, id, start, counts, stride, request.memory(), count,
                                       request.type())
                      : ncmpi_get_vars(ncid, id, start, counts, stride, request.memory(), count,
                                       request.type());
}

int post(Request& request, bool buffered, int* id) {
  const int variable = request.variable->id;
  const auto count = request.elements();
  const auto of_boxes = !request.puts ? ncmpi_iget_varn : nullptr;
  if (request.several) {
    return by_boxes(request, [&](int number, MPI_Offset** starts, MPI_Offset** counts) {
      if (of_boxes) {
        return of_boxes(ncid, variable, number, starts, counts, request.memory(), count,
                        request.type(), id);
      }
      return (buffered ? ncmpi_bput_varn : ncmpi_iput_varn)(
          ncid, variable, number, starts, counts, request.memory(), count, request.type(), id);
    });
  }
  const auto *const start = request.starts[0].data(), *const counts = request.counts[0].data();
  const auto* const stride = request.stride.data();
  if (!request.puts) {
    return ncmpi_iget_vars(ncid, variable, start, counts, stride, request.memory(), count,
                           request.type(), id);
  }
  return (buffered ? ncmpi_bput_vars : ncmpi_iput_vars)(
      ncid, variable, start, counts, stride, request.memory(), count, request.type(), id);
}

/// What this rank has of them, posted and waited for.
void post_and_wait(std::vector<Request>& requests, bool buffered, bool alone, int how) {
  std::vector<int> ids;
  for (Request& request : requests) {
    if (request.of_rank != rank || request.places.empty()) continue;
    check(post(request, buffered && request.puts, &ids.emplace_back()), "posting");
  }
  std::vector<int> statuses(ids.size() + 1, -1);
  const int count = static_cast<int>(ids.size());
  const auto wait = alone ? ncmpi_wait : ncmpi_wait_all;
  if (how == 0) {
    check(wait(ncid, NC_REQ_ALL, nullptr, nullptr), "waiting for all");
    statuses.assign(statuses.size(), NC_NOERR);
  } else {
    check(wait(ncid, count, ids.data(), statuses.data()), "waiting");
  }
  for (int i = 0; i < count; ++i) check(statuses[static_cast<std::size_t>(i)], "a request");
  for (Request& request : requests) {
    if (request.of_rank == rank) compare(request);
  }
}

void collective_call(bool puts) {
  begin_step();
  Variable& variable =
      variables[static_cast<std::size_t>(below(static_cast<int>(variables.size())))];
  if (!puts && variable.recorded && records == 0) return;
  std::vector<Request> requests;
  bool all_have_some = true;
  const Kind kind = draw_kind();  // PnetCDF has all ranks make the same call
  for (int r = 0; r < ranks; ++r) {
    const bool ordered = std::exchange(overlaps, false);  // the call may be PnetCDF's
    requests.push_back(draw(variable, puts, r, false, false, kind));
    overlaps = ordered;
    all_have_some &= !requests.back().places.empty();
  }
  if (puts && variable.recorded && !all_have_some) return;  // PnetCDF 1.15 hangs
  apply(requests);
  check(move_all(requests[static_cast<std::size_t>(rank)]), "a collective call");
  compare(requests[static_cast<std::size_t>(rank)]);
}

/// Of one rank. PnetCDF 1.12.3 overruns its memory where requests are not posted in the file's
/// order.
void draw_some(std::vector<Request>& requests, int of_rank, bool alone) {
  std::vector<Variable*> chosen;
  for (int i = below(5); i > 0; --i) {
    chosen.push_back(
        &variables[static_cast<std::size_t>(below(static_cast<int>(variables.size())))]);
  }
  std::ranges::sort(chosen, {},
                    [](const Variable* one) { return std::pair(one->recorded, one->id); });
  for (Variable* variable : chosen) {
    const bool puts = !once_in(3);
    if (puts || !variable->recorded || records > 0) {
      requests.push_back(draw(*variable, puts, of_rank, alone, true, draw_kind()));
    }
  }
}

void collective_wait() {
  begin_step();
  std::vector<Request> requests;
  for (int r = 0; r < ranks; ++r) draw_some(requests, r, false);
  const bool buffered = once_in(3);
  const int how = below(2);
  apply(requests);
  post_and_wait(requests, buffered, false, how);
}

void independent_calls() {
  MPI_Barrier(MPI_COMM_WORLD);
  check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
  begin_step();
  for (int r = 0; r < ranks; ++r) {
    for (int calls = below(4); calls > 0; --calls) {
      std::vector<Request> requests;
      if (once_in(2)) {
        Variable& variable =
            variables[static_cast<std::size_t>(below(static_cast<int>(variables.size())))];
        requests.push_back(draw(variable, once_in(2), r, true, false, draw_kind()));
        apply(requests);
        if (r != rank) continue;
        check(move_alone(requests[0]), "an independent call");
        compare(requests[0]);
      } else {
        // Within a wait no element twice.
        std::vector<Request> drawn;
        draw_some(drawn, r, true);
        for (Request& request : drawn) {
          const bool is_apart = std::ranges::none_of(
              requests, [&](const Request& other) { return other.variable == request.variable; });
          if (is_apart) requests.push_back(request);
        }
        const int how = below(2);
        apply(requests);
        if (r == rank) post_and_wait(requests, false, true, how);
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check(ncmpi_end_indep_data(ncid), "end_indep_data");
  MPI_Barrier(MPI_COMM_WORLD);
}

int time_dim, x, y;
MPI_Offset lx, ly;

void define(nc_type type, bool recorded, int dims) {
  Variable one;
  one.type = type;
  one.recorded = recorded;
  std::vector<int> ids;
  if (recorded) ids.push_back(time_dim), one.lengths.push_back(most_records);
  if (dims > 1) ids.push_back(y), one.lengths.push_back(ly);
  if (dims > 0) ids.push_back(x), one.lengths.push_back(lx);
  MPI_Offset elements = 1;
  for (const MPI_Offset length : one.lengths) elements *= length;
  one.values.assign(static_cast<std::size_t>(elements), unknown);
  const auto name = "v" + std::to_string(variables.size());
  check(ncmpi_def_var(ncid, name.c_str(), type, static_cast<int>(ids.size()), ids.data(), &one.id),
        "def_var");
  variables.push_back(std::move(one));
}

void define_some() {
  const nc_type types[] = {NC_INT, NC_DOUBLE, NC_SHORT, NC_BYTE, NC_FLOAT};
  const bool recorded = once_in(2);
  define(types[below(5)], recorded, (recorded ? 0 : 1) + below(2));
}

void open(const char* path, bool creates) {
  const auto cb_nodes = std::to_string(1 + below(ranks));
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", cb_nodes.c_str());
  // Independent puts of one rank would write old values over what another one puts between them.
  MPI_Info_set(info, "romio_ds_write", "disable");
  check(creates ? ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid)
                : ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid),
        creates ? "create" : "open");
  MPI_Info_free(&info);
  check(ncmpi_buffer_attach(ncid, 1 << 20), "buffer_attach");
}

void close() {
  check(ncmpi_buffer_detach(ncid), "buffer_detach");
  check(ncmpi_close(ncid), "close");
}

void create(const char* path, MPI_Offset length) {
  variables.clear();
  records = 0;
  lx = length;
  ly = 1 + below(5);
  open(path, true);
  check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time_dim), "def_dim");
  check(ncmpi_def_dim(ncid, "x", lx, &x), "def_dim");
  check(ncmpi_def_dim(ncid, "y", ly, &y), "def_dim");
}

void redefine(const std::function<void()>& more) {
  static int attributes = 0;
  check(ncmpi_redef(ncid), "redef");
  more();
  const std::string text(static_cast<std::size_t>(1 + below(3000)), 'a');
  const auto name = "a" + std::to_string(++attributes % 3);
  check(ncmpi_put_att_text(ncid, NC_GLOBAL, name.c_str(), static_cast<MPI_Offset>(text.size()),
                           text.c_str()),
        "put_att");
  check(ncmpi_enddef(ncid), "enddef");
}

void reopen(const char* path) {
  close();
  MPI_Barrier(MPI_COMM_WORLD);
  open(path, false);
}

/// All that is known of the file.
void read_all(const char* path) {
  reopen(path);
  ++operation;
  for (Variable& variable : variables) {
    if (variable.recorded && records == 0) continue;
    std::vector<Request> all;
    Request& request = all.emplace_back(variable, false, rank);
    request.as_double = true;
    const std::size_t dims = variable.lengths.size();
    request.stride.assign(dims, 1);
    request.starts.push_back(Offsets(dims, 0));
    request.counts.push_back({});
    for (std::size_t d = 0; d < dims; ++d) request.counts[0].push_back(variable.length(d, false));
    add_places(request, request.starts[0], request.counts[0]);
    apply(all);
    check(move_all(request), "get");
    compare(request);
  }
  close();
}

void random_program(const char* path) {
  engine.seed(seed);
  operation = 0;
  create(path, 1 + below(120));
  for (int more = 1 + below(5); more > 0; --more) define_some();
  check(ncmpi_enddef(ncid), "enddef");
  for (int steps = 5 + below(20); steps > 0; --steps) {
    const int what = below(20);
    if (what < 6) {
      collective_call(true);
    } else if (what < 9) {
      collective_call(false);
    } else if (what < 15) {
      collective_wait();
    } else if (what < 17) {
      independent_calls();
    } else if (what == 17) {
      check(ncmpi_sync(ncid), "sync");
    } else if (what == 18) {
      redefine([] {
        if (variables.size() < 8) define_some();
      });
    } else {
      reopen(path);
    }
  }
  read_all(path);
}

enum { few_pieces, many_pieces, posted, buffered_posts, independent, ways };
enum { nothing, barrier, synchronized, reopened, redefined, gaps };

/// Each rank puts or gets a share of the variable by one kind of calls, `shift` shares further on.
void move_shares(Variable& variable, bool puts, int way, int shift) {
  begin_step();
  const MPI_Offset share = lx / ranks, record = below(static_cast<int>(most_records));
  std::vector<Request> requests;
  for (int r = 0; r < ranks; ++r) {
    Request request(variable, puts, r);
    const MPI_Offset mine = (r + shift) % ranks;
    const bool scattered = way != few_pieces;
    if (variable.recorded) {
      const MPI_Offset some = std::min(records + 1, most_records);
      request.starts.push_back(
          {puts ? std::min(record, some - 1) : 0, scattered ? mine : mine * share});
      request.counts.push_back({puts ? 1 : records, share});
      request.stride = {1, scattered ? ranks : 1};
    } else {
      request.starts.push_back({scattered ? mine : mine * share});
      request.counts.push_back({share});
      request.stride = {scattered ? ranks : 1};
    }
    add_places(request, request.starts[0], request.counts[0]);
    requests.push_back(std::move(request));
  }
  apply(requests);
  Request& mine = requests[static_cast<std::size_t>(rank)];
  if (way == independent) {
    MPI_Barrier(MPI_COMM_WORLD);
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    check(move_alone(mine), "an independent call");
    MPI_Barrier(MPI_COMM_WORLD);
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
    MPI_Barrier(MPI_COMM_WORLD);
    compare(mine);
  } else if (way == few_pieces || way == many_pieces) {
    check(move_all(mine), "a collective call");
    compare(mine);
  } else {
    post_and_wait(requests, way == buffered_posts, false, shift % 2);
  }
}

void listed_programs(const char* path) {
  create(path, 64 * ranks);
  define(NC_INT, false, 1);
  define(NC_SHORT, true, 1);
  check(ncmpi_enddef(ncid), "enddef");
  // In independent mode a rank does not tell the others of records.
  for (int i = 0; i < most_records; ++i) move_shares(variables[1], true, posted, 0);
  for (int first = 0; first < ways; ++first) {
    for (int second = 0; second < ways; ++second) {
      for (int gap = 0; gap < gaps; ++gap) {
        Variable& variable = variables[static_cast<std::size_t>((first + second + gap) % 2)];
        move_shares(variable, true, first, 0);
        if (gap == barrier) MPI_Barrier(MPI_COMM_WORLD);
        if (gap == synchronized) check(ncmpi_sync(ncid), "sync");
        if (gap == reopened) reopen(path);
        if (gap == redefined) redefine([] {});
        move_shares(variable, true, second, 1);
        move_shares(variable, false, (first + second + gap) % ways, 2);
      }
    }
  }
  read_all(path);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  overlaps = argc > 4 && !std::strcmp(argv[4], "overlaps");
  const auto first = static_cast<unsigned>(std::atoi(argv[2]));
  const auto programs = static_cast<unsigned>(std::atoi(argv[3]));
  for (seed = first; seed < first + programs; ++seed) {
    if (seed == 0) {
      listed_programs(argv[1]);
    } else {
      random_program(argv[1]);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%u programs, %d wrong\n", programs, wrong);
  MPI_Finalize();
  return wrong != 0;
}
