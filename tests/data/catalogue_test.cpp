#include "data/catalogue.hpp"

#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "data/formats/dimacs.hpp"
#include "data/generators/mycielski.hpp"
#include "data/graphs.hpp"
#include "data/search_path.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

const std::string head = "schema: 1\nfamilies:\n  f: text\ninstances:\n";
const std::string good =
    "  - name: a\n    family: f\n    file: f/a.col\n    format: dimacs-col\n    size: {vertices: 2}\n"
    "    sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n    source: s\n    licence: l\n";

std::string with(std::string text, const std::string& part, const std::string& by) {
  return text.replace(text.find(part), part.size(), by);
}

std::string rejection(const std::string& text) {
  const TemporaryFolder folder;
  const auto file = folder.write("c.yaml", text);
  const std::string full = complaint<InputError>([&] { (void)Catalogue::read(file); });
  return full.starts_with(file.string()) ? full.substr(file.string().size()) : full;
}

TEST(Catalogue, OwnFileIsValidAndKnowsOneInsertionsFour) {
  const CatalogueEntry& entry = catalogue().at("1-Insertions_4");
  EXPECT_EQ(entry.best_known->value, 5);
  EXPECT_EQ(entry.size.at("edges"), 232);
  const Graph graph = load_graph("1-Insertions_4");
  EXPECT_EQ(graph, generalised_mycielski(1, 4));
  EXPECT_EQ(graph.vertices, entry.size.at("vertices"));
}

TEST(Catalogue, EveryGeneratedGraphHasItsContent) {
  for (const CatalogueEntry& entry : catalogue().entries()) {
    const bool generated_graph = entry.format == "dimacs-col" && entry.generator;
    EXPECT_TRUE(!generated_graph || load_graph(entry).vertices == entry.size.at("vertices")) << entry.name;
  }
}

TEST(Catalogue, MinimalEntry) { EXPECT_EQ(rejection(head + good), ""); }

TEST(Catalogue, UnknownNameListsWhatThereIs) {
  EXPECT_NE(complaint<InputError>([] { (void)catalogue().at("nope"); }).find("1-Insertions_4"), std::string::npos);
}

TEST(Catalogue, ErrorsCarryFileAndLine) {
  EXPECT_EQ(rejection(head + good + good), ":13: instance 'a' twice");
  EXPECT_TRUE(rejection(head + good + "    colour: red\n").starts_with(":13: unknown key 'colour'; allowed: best_known,"));
  EXPECT_EQ(rejection(head + good + "    best_known: {value: many, kind: optimal, of: x}\n"), ":13: expected a number");
  EXPECT_EQ(rejection(head + good + "    best_known: {value: 1, kind: guess, of: x}\n"),
            ":13: unknown kind 'guess'; allowed: optimal, best-known, bound");
  EXPECT_EQ(rejection(head + good + "    generator: {name: g, parameters: {n: x}}\n"), ":13: expected a whole number");
  EXPECT_EQ(rejection(head + good + "    generator: {name: g, parameters: {}}\n"), ":5: 'content_sha256' is missing");
  EXPECT_EQ(rejection(head + good + "    name: b\n"), ":13: key 'name' twice");
  EXPECT_EQ(rejection(head + good + "    best_known: {value: .nan, kind: bound, of: x}\n"),
            ":13: 'value' of best_known is no number from -2^53 to 2^53");
  EXPECT_EQ(rejection(head + good + "    best_known: {value: 1e300, kind: bound, of: x}\n"),
            ":13: 'value' of best_known is no number from -2^53 to 2^53");
  EXPECT_EQ(rejection(head + with(good, "{vertices: 2}", "{}")), ":9: 'size' is empty");
  EXPECT_EQ(rejection(head + with(good, "f/a.col", "../../a.col")), ":7: 'file' leads out of the folder of instances");
  EXPECT_EQ(rejection(head + with(good, "f/a.col", "/etc/hostname")), ":7: 'file' leads out of the folder of instances");
  EXPECT_TRUE(rejection("schema: 1\nfamilies:\n  [a]: b\ninstances: []\n").starts_with(":3: "));
  EXPECT_EQ(rejection(head + "  - name: a\n"), ":5: 'family' is missing");
  EXPECT_EQ(rejection(head + "  - name: a\n    family: g\n"), ":6: unknown family 'g'; declared: f");
  EXPECT_EQ(rejection("schema: 2\nfamilies: {}\ninstances: []\n"), ":1: only schema 1 is known");
  EXPECT_EQ(rejection("schema: 1\nfamilies: {}\ninstances: 3\n"), ":3: expected a list of instances");
  EXPECT_EQ(rejection("schema: 1\nfamilies: {}\n"), ":1: 'instances' is missing");
  EXPECT_TRUE(rejection("- a\n").starts_with(":1: expected a mapping"));
  EXPECT_TRUE(rejection("schema: [1\n").starts_with(":2: "));
}

TEST(Catalogue, AContentOfAnotherMeasureIsNoMatch) {
  EXPECT_EQ(entry_of_content("dimacs-col", "facilities", 67, [] { return std::string(); }), nullptr);
}

TEST(Catalogue, OriginsOfFamilies) {
  const std::string origins = "schema: 1\nfamilies:\n  f: text\norigins:\n";
  const TemporaryFolder folder;
  const std::string text = origins + "  f: {addresses: [one, two], debian: {package: p, folder: /d}}\ninstances:\n" + good;
  const Catalogue read = Catalogue::read(folder.write("c.yaml", text));
  EXPECT_EQ(read.at("a").origin->addresses, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(read.at("a").origin->debian_package, "p");
  EXPECT_EQ(read.at("a").origin->debian_folder, "/d");
  EXPECT_EQ(rejection(origins + "  g: {addresses: []}\ninstances: []\n"), ":5: unknown key 'g'; allowed: f");
  EXPECT_EQ(rejection(origins + "  f: {}\ninstances: []\n"), ":5: 'addresses' is missing");
  EXPECT_EQ(rejection(origins + "  f: {addresses: x}\ninstances: []\n"), ":5: expected a list of addresses");
  EXPECT_EQ(rejection(origins + "  f: {addresses: [[1]]}\ninstances: []\n"), ":5: expected an address");
  EXPECT_EQ(rejection(origins + "  f: {addresses: [], debian: {package: p}}\ninstances: []\n"), ":5: 'folder' is missing");
  EXPECT_EQ(rejection(origins + "  f: {addresses: [], mirror: x}\ninstances: []\n"),
            ":5: unknown key 'mirror'; allowed: addresses, debian");
}

TEST(Catalogue, RoundingOfFamilies) {
  const std::string rounding = "schema: 1\nfamilies:\n  f: text\nrounding:\n";
  const TemporaryFolder folder;
  EXPECT_EQ(Catalogue::read(folder.write("c.yaml", rounding + "  f: nearest\ninstances:\n" + good)).at("a").rounding, "nearest");
  EXPECT_EQ(Catalogue::read(folder.write("c.yaml", head + good)).at("a").rounding, "");
  EXPECT_EQ(rejection(rounding + "  f: up\ninstances: []\n"), ":5: unknown rounding 'up'; allowed: none, nearest");
  EXPECT_EQ(rejection(rounding + "  g: none\ninstances: []\n"), ":5: unknown key 'g'; allowed: f");
}

TEST(Catalogue, MissingFileIsBadInput) { EXPECT_THROW((void)Catalogue::read("/nonexistent.yaml"), InputError); }

TEST(Catalogue, WrongChecksumOfAFileIsRefused) {
  const TemporaryFolder folder;
  folder.write("f/a.col", "p edge 2 1\ne 1 2\n");
  CatalogueEntry entry = catalogue().at("1-Insertions_4");
  entry.generator.reset();
  entry.file = "f/a.col";
  const ScopedEnvironment set("VICINITY_INSTANCES", folder.path().string());
  EXPECT_NE(complaint<InputError>([&] { (void)load_graph(entry); }).find("SHA-256 is"), std::string::npos);
  entry.format = "qaplib";
  EXPECT_NE(complaint<InputError>([&] { (void)load_graph(entry); }).find("is no graph"), std::string::npos);
}

TEST(Catalogue, GeneratorThatDoesNotReproduceItsContentIsRefused) {
  CatalogueEntry entry = catalogue().at("1-Insertions_4");
  entry.generator->parameters["order"] = 3;
  EXPECT_NE(complaint<InputError>([&] { (void)load_graph(entry); }).find("content_sha256"), std::string::npos);
  entry.generator->parameters.clear();
  EXPECT_NE(complaint<InputError>([&] { (void)load_graph(entry); }).find("'insertions' is missing"), std::string::npos);
  entry.generator->name = "dice";
  EXPECT_NE(complaint<InputError>([&] { (void)load_graph(entry); }).find("unknown graph generator 'dice'"), std::string::npos);
}

}  // namespace
}  // namespace vicinity
