#include "core/base/progress_line.hpp"

#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace slabmark {

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool obeys_control_sequences() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !is_set("NO_COLOR") &&
         !(kind != nullptr && std::string_view(kind) == "dumb");
}

/// A line that the terminal wraps could not be written over.
std::string fit_to_terminal(std::string text) {
  winsize size = {};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t columns = is_known ? size.ws_col : 80;
  if (text.size() < columns) return text;
  std::size_t end = columns - 1;
  const auto is_within_character = [&] { return (text[end] & 0xC0) == 0x80; };  // of UTF-8
  while (end > 0 && is_within_character()) --end;
  return text.substr(0, end);
}

}  // namespace

std::optional<double> seconds_left(double elapsed, std::uint64_t done, std::uint64_t total) {
  if (done == 0) return std::nullopt;
  if (done >= total) return 0.0;
  return elapsed / static_cast<double>(done) * static_cast<double>(total - done);
}

std::string text_of_seconds_left(double seconds) {
  if (seconds < 99.5) return fmt::format("about {:.0f} s left", seconds < 1.0 ? 1.0 : seconds);
  const double minutes = seconds / 60.0;
  if (minutes < 99.5) return fmt::format("about {:.0f} min left", minutes);
  return fmt::format("about {:.1f} h left", minutes / 60.0);
}

ProgressLine::ProgressLine(std::string program, bool quiet)
    : program_(std::move(program)),
      style_(quiet                       ? Style::none
             : obeys_control_sequences() ? Style::one_line
                                         : Style::now_and_then) {}

void ProgressLine::show(std::string_view what, std::optional<double> seconds_left) {
  if (style_ == Style::none) return;
  const auto now = Clock::now();
  const bool is_line = style_ == Style::one_line;
  const Clock::duration pause = is_line ? std::chrono::milliseconds(100) : std::chrono::seconds(30);
  if (now - last_ < pause && !(is_line && what != shown_)) return;
  last_ = now;
  std::string text = fmt::format("{}: {}", program_, what);
  if (seconds_left) text += ", " + text_of_seconds_left(*seconds_left);
  if (is_line) {
    shown_ = what;
    fmt::print(stderr, "\r\033[K{}", fit_to_terminal(std::move(text)));
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

void ProgressLine::show_step(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (done >= total) return clear();
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  show(what, slabmark::seconds_left(elapsed, done, total));
}

OnStep ProgressLine::steps_of(std::string what) {
  return [this, what = std::move(what)](std::uint64_t done, std::uint64_t total) {
    show_step(what, done, total);
  };
}

void ProgressLine::clear() {
  if (shown_.empty()) return;
  shown_.clear();
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace slabmark
