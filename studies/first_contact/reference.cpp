// What `measure` compiles to state the speed of a machine: headers and templates of the standard
// library alone, so that no change of Slabmark changes it.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

int main(int argc, char** argv) {
  std::regex word("([a-z]+)([0-9]*)|([A-Z][a-z]+)");
  std::map<std::string, std::vector<double>> values;
  std::unordered_map<int, std::function<double(double)>> functions;
  std::mt19937_64 engine(static_cast<std::uint64_t>(argc));
  std::normal_distribution<double> normal;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    for (std::string line; std::getline(file, line);) {
      for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at) {
        values[at->str()].push_back(normal(engine));
      }
    }
    functions[i] = [i](double x) { return x * i; };
  }
  for (auto& [name, numbers] : values) {
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    std::stable_sort(numbers.begin(), numbers.end());
    std::cout << name << ' ' << functions[static_cast<int>(numbers.size())](numbers.front())
              << '\n';
  }
}
