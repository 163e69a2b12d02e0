#include "programs/bench/environment_command.hpp"

#include "bench/measure/manifest.hpp"
#include "bench/measure/record.hpp"
#include "bench/method/environment.hpp"
#include "bench/method/registry.hpp"
#include "core/base/words.hpp"

namespace slabmark::bench_program {

namespace {

constexpr Word<MethodKind> kinds[] = {{"general", MethodKind::general},
                                      {"slices", MethodKind::slices},
                                      {"yardstick", MethodKind::yardstick},
                                      {"as-captured", MethodKind::as_captured}};

}  // namespace

Json describe_methods() {
  Json list = Json::array();
  for (const MethodInfo& method : methods()) {
    Json options = Json::array();
    for (const OptionInfo& option : method.options) {
      options.push_back({{"name", option.name},
                         {"default", option.default_text},
                         {"takes", option.accepted_values},
                         {"help", option.help}});
    }
    list.push_back({{"name", method.name},
                    {"summary", method.summary},
                    {"kind", word_for(method.kind, kinds)},
                    {"format", method.file().name},
                    {"missing", text_or_null(method.missing)},
                    {"options", std::move(options)}});
  }
  return list;
}

Json describe_environment(const Comm& world, const std::string& directory) {
  const LibraryEnvironment environment = library_environment(world, directory);
  Json description = collect_manifest(
      world, {"slabmark-bench", directory, Json::object(), 0, environment.to_json()});
  if (!world.is_root()) return description;
  description["warning"] = text_or_null(environment.warning());
  description["methods"] = describe_methods();
  return description;
}

}  // namespace slabmark::bench_program
