#include "bench/method/registry.hpp"

#include <set>

#include <gtest/gtest.h>

#include "bench/measure/clock.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Registry, NamesAreUniqueAndEachMethodSaysWhatItDoes) {
  std::set<std::string> names;
  for (const auto& method : methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_FALSE(method.summary.empty()) << method.name;
    EXPECT_TRUE(method.supports) << method.name;
    EXPECT_EQ(static_cast<bool>(method.make), method.missing.empty()) << method.name;
  }
}

TEST(Registry, EachOptionStartsWithThePrefixOfALibraryAndSaysWhatItDoes) {
  for (const auto& method : methods()) {
    const auto prefix = method.name.substr(0, method.name.find('-')) + ".";
    for (const auto& option : method.options) {
      EXPECT_EQ(option.name.rfind(prefix, 0), 0u) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
}

TEST(Registry, AMethodThatDoesNotExistIsRefusedWithTheNearestName) {
  EXPECT_NE(message_of([] { find_method("hdf5-slap"); }).find("did you mean hdf5-slab?"),
            std::string::npos);
}

std::vector<const MethodInfo*> all_methods() {
  std::vector<const MethodInfo*> all;
  for (const auto& method : methods()) all.push_back(&method);
  return all;
}

TEST(Registry, AMisspeltOptionIsRefusedWithTheNearestName) {
  const Settings settings{{{"pnetcdf.blokcing", "on"}}, {}};
  const auto message = message_of([&] { check_options(settings, all_methods()); });
  EXPECT_NE(message.find("did you mean pnetcdf.blocking?"), std::string::npos) << message;
}

TEST(Registry, AnOptionThatNoChosenMethodHasIsRefused) {
  const Settings settings{{{"null.delay_post", "1"}}, {}};
  std::vector<const MethodInfo*> chosen = {&find_method("posix")};
  EXPECT_EQ(message_of([&] { check_options(settings, chosen); }),
            "posix has no option 'null.delay_post'; known are posix.direct.");
  chosen.push_back(&find_method("null"));
  EXPECT_NO_THROW(check_options(settings, chosen));
}

TEST(Registry, AMethodHasNoOptionThatItForces) {
  const auto has = [](std::string_view method, std::string_view name) {
    for (const auto& info : methods()) {
      if (info.name != method) continue;
      for (const auto& option : info.options) {
        if (option.name == name) return true;
      }
    }
    return false;
  };
  EXPECT_TRUE(has("hdf5-slab", "hdf5.connector"));
  EXPECT_FALSE(has("hdf5-log", "hdf5.connector"));
  EXPECT_TRUE(has("hdf5-log", "hdf5.log_view"));
  EXPECT_FALSE(has("hdf5-contiguous", "hdf5.chunk"));
}

TEST(Registry, EachDefaultReadsAsItIsWritten) {
  for (const auto& method : methods()) {
    Settings settings;
    for (const auto& option : method.options) {
      EXPECT_EQ(option.canonical(option.default_text), option.default_text)
          << method.name << ' ' << option.name;
      EXPECT_FALSE(option.accepted_values.empty()) << option.name;
      settings.options[option.name] = option.default_text;
    }
    const MethodInfo* const chosen[] = {&method};
    EXPECT_NO_THROW(check_options(settings, chosen)) << method.name;
  }
}

TEST(Registry, AValueThatAnOptionDoesNotTakeIsRefusedWithTheOption) {
  const MethodInfo* const chosen[] = {&find_method("posix"), &find_method("hdf5-slab")};
  EXPECT_EQ(message_of([&] {
              check_options({{{"hdf5.fill", "later"}}, {}}, chosen);
            }),
            "Option hdf5.fill is 'later'; it takes never, alloc or ifset.");
  EXPECT_EQ(message_of([&] {
              check_options({{{"hdf5.deflate", "10"}}, {}}, chosen);
            }),
            "Option hdf5.deflate is '10'; it takes 0 to 9.");
}

TEST(Registry, ThreadsAreAskedOfMpiWhereAChosenFormatWantsThem) {
  const MethodInfo* chosen[] = {&find_method("posix"), &find_method("hdf5-slab"),
                                &find_method("hdf5-subfiling")};
  EXPECT_EQ(thread_level({chosen, 2}), MPI_THREAD_FUNNELED);
  EXPECT_EQ(thread_level(chosen), MPI_THREAD_MULTIPLE);
}

TEST(Registry, OnlyYardsticksLeaveNoFileOfAnyPattern) {
  for (const auto& method : methods()) {
    if (method.kind != MethodKind::general) continue;
    EXPECT_NE(method.format, FileFormat::none) << method.name;
    EXPECT_NE(method.format, FileFormat::blob) << method.name;
  }
}

TEST(Registry, AValueThatAnOptionDoesNotTakeIsRefusedBeforeAFileIsMade) {
  const Comm comm(MPI_COMM_WORLD);
  Pattern pattern;
  pattern.transfers = [](std::uint64_t) { return std::vector<Transfer>{}; };
  PhaseClock clock(comm);
  const std::vector<std::pair<std::string, std::pair<std::string, std::string>>> wrong = {
      {"mpiio-collective", {"mpiio.call_bytes", "2G"}},
      {"mpiio-collective", {"mpiio.call_bytes", "0"}},
      {"mpiio-independent", {"mpiio.view", "perhaps"}},
      {"mpiio-rearranged", {"mpiio.window", "63"}},
      {"hdf5-rearranged", {"hdf5.window", "2G"}},
      {"pnetcdf-rearranged", {"pnetcdf.aggregators", "few"}},
      {"hdf5-slab", {"hdf5.fill", "sometimes"}},
      {"hdf5-slab", {"hdf5.libver", "v17"}},
      {"pnetcdf-varn", {"pnetcdf.call_bytes", "4G"}},
      {"pnetcdf-vara", {"pnetcdf.blocking", "2"}},
      {"null", {"null.delay_post", "-1"}}};
  for (const auto& [name, option] : wrong) {
    SCOPED_TRACE(name + " " + option.first + "=" + option.second);
    const Settings settings{{option}, {}};
    const auto message = message_of([&] {
      find_method(name).make({comm, pattern, Direction::write, settings, clock});
    });
    // Either the value is refused by name, or this build lacks the method.
    EXPECT_TRUE(message.find(option.first) != std::string::npos ||
                message.find("not in this build") != std::string::npos)
        << message;
  }
}

Pattern with_dataset(Dataset dataset) {
  Pattern pattern;
  pattern.name = "one dataset";
  const auto extent = dataset.extent();
  pattern.datasets = {std::move(dataset)};
  pattern.transfers = [extent](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, select_none(extent), nullptr}};
  };
  return pattern;
}

TEST(Supports, AFileBeyond63BitsIsRefusedByAllThatWriteIt) {
  const auto pattern = with_dataset({"v",
                                     ElementType::float64,
                                     {{"x", std::uint64_t{1} << 31}, {"y", std::uint64_t{1} << 30}},
                                     false,
                                     std::nullopt});
  for (const auto& method : methods()) {
    const bool writes_it = method.format != FileFormat::none || method.name == "whole" ||
                           method.kind == MethodKind::slices ||
                           method.kind == MethodKind::as_captured;
    EXPECT_EQ(method.supports(pattern, {}).has_value(), writes_it) << method.name;
  }
}

TEST(Supports, NetcdfRefusesNamesThatEndInABlankAndDimensionsOfLengthZero) {
  const auto& varn = *std::find_if(methods().begin(), methods().end(), [](const auto& method) {
    return method.name == "pnetcdf-varn";
  });
  EXPECT_TRUE(varn.supports(
      with_dataset({"T ", ElementType::float32, {{"x", 4}}, false, std::nullopt}), {}));
  EXPECT_FALSE(varn.supports(
      with_dataset({"atm/T", ElementType::float32, {{"x", 4}}, false, std::nullopt}), {}));
  EXPECT_TRUE(varn.supports(
      with_dataset({"T", ElementType::float32, {{"x", 0}}, false, std::nullopt}), {}));
  EXPECT_FALSE(varn.supports(
      with_dataset({"T", ElementType::float32, {{"x", 4}}, false, std::nullopt}), {}));
}

TEST(Supports, Hdf5RefusesChunksThatDoNotSuitTheDataset) {
  const auto& slab = find_method("hdf5-slab");
  EXPECT_TRUE(slab.supports(
      with_dataset({"T", ElementType::float32, {{"x", 4}}, false, Extent{2, 2}}), {}));
  EXPECT_TRUE(
      slab.supports(with_dataset({"T", ElementType::float32, {{"x", 4}}, false, Extent{0}}), {}));
  EXPECT_TRUE(slab.supports(with_dataset({"T",
                                          ElementType::float64,
                                          {{"x", std::uint64_t{1} << 29}},
                                          false,
                                          Extent{std::uint64_t{1} << 29}}),
                            {}));
  EXPECT_FALSE(
      slab.supports(with_dataset({"T", ElementType::float32, {{"x", 4}}, false, Extent{8}}), {}));
}

}  // namespace
}  // namespace slabmark
