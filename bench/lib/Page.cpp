//===- Page.cpp - A run as an HTML page -----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Page.h"
#include "atrex/Bench/Chart.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

std::string bench::formatUs(double us) {
  if (us >= 1000)
    return fmt::format("{:.0f}", us);
  if (us >= 100)
    return fmt::format("{:.1f}", us);
  if (us >= 10)
    return fmt::format("{:.2f}", us);
  if (us >= 0.1)
    return fmt::format("{:.3f}", us);
  return fmt::format("{:.3g}", us);
}

std::string bench::formatShare(double share) {
  double percent = share * 100;
  return percent == 100  ? "100 %"
         : percent >= 10 ? fmt::format("{:.0f} %", std::min(percent, 99.0))
                         : fmt::format("{:.2g} %", percent);
}

std::string bench::explainScore(const ShapeResult &shape) {
  double score = shape.getScore();
  if (score <= 1)
    return "";
  std::string time = formatUs(shape.getTimeUs()), sol = formatUs(shape.solUs);
  if (!shape.minimalUs)
    return fmt::format(
        "S is {:.2f}: {} us against a roofline time of {} us, which charges no more than a kernel needs; "
        "the device is faster than its peaks say, or the time is wrong",
        score, time, sol);
  double minimal = *shape.minimalUs / shape.getTimeUs();
  if (minimal <= 1)
    return fmt::format("S is {:.2f} because the published roofline ({} us) charges more traffic or work than a kernel "
                       "needs ({} us); against what it needs it is {:.2f}",
                       score, sol, formatUs(*shape.minimalUs), minimal);
  return fmt::format(
      "S is {:.2f}, and {:.2f} against what a kernel needs at least: the device is faster than its peaks "
      "say, or the time is wrong",
      score, minimal);
}

namespace {

constexpr llvm::StringLiteral style = R"css(
:root{color-scheme:light dark;--ground:#fff;--raised:#f4f6f8;--ink:#1d2733;--faint:#5b6773;--line:#d9dee3;
--link:#1f5f9e;
--good:#1b7a3d;--goodground:#e2f3e7;--bad:#b3261e;--badground:#fbe4e2;--note:#fff6e3;--noteline:#d9822b;--bar:#2f6fb2;--mark:#d9822b}
@media (prefers-color-scheme: dark){:root{--ground:#14181d;--raised:#1c2229;--ink:#d7dee6;--faint:#97a3af;
--line:#333c46;
--link:#7db8ee;--good:#7fd49b;--goodground:#1b3325;--bad:#ff9c94;--badground:#45211f;--note:#2b2418;--noteline:#f0a04b;
--bar:#5b9bd8;--mark:#f0a04b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",
sans-serif}
main{max-width:1320px;margin:0 auto;padding:20px 16px 60px}
h1{font-size:1.6em;line-height:1.2;margin:0 0 12px}
h2{font-size:1.2em;margin:32px 0 8px}
h3{font-size:.95em;margin:0 0 4px}
p{margin:6px 0}
a{color:var(--link)}
code,.hash{font:13px/1.4 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0;font:13px/1.4 ui-monospace,Menlo,Consolas,
"DejaVu Sans Mono",monospace}
.note{background:var(--note);border-left:4px solid var(--noteline);padding:8px 12px;margin:12px 0}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:4px 24px;margin:12px 0}
.facts div,.pairs div{display:flex;gap:10px}
.facts dt{color:var(--faint);flex:0 0 92px}
.facts dd,.pairs dd{margin:0;overflow-wrap:anywhere}
.faint{color:var(--faint)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;font-size:.9em;margin:8px 0}
.legend span{display:flex;align-items:center;gap:6px}
.charts{display:flex;flex-wrap:wrap;gap:20px 40px}
.charts section{max-width:100%}
.charts section p{width:0;min-width:100%;margin:0 0 6px;font-size:.9em}
.scroll{overflow-x:auto;max-width:100%;margin:0;-webkit-overflow-scrolling:touch}
svg{display:block}
.controls{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:8px 0}
.controls input,.controls select{font:inherit;color:inherit;background:var(--raised);border:1px solid var(--line);
border-radius:4px;padding:5px 8px;max-width:100%}
.controls input{flex:1 1 260px;min-width:0;max-width:420px}
.bars{display:grid;grid-template-columns:minmax(120px,max-content) 1fr max-content;gap:6px 14px;align-items:center;
font-size:.9em;font-variant-numeric:tabular-nums;max-width:980px}
.bars .row{display:contents}
.bars .head{color:var(--faint);font-size:.92em}
.bars .name{overflow-wrap:anywhere}
.bars .track{position:relative;height:16px;background:var(--raised);border-radius:2px}
.bars .fill{position:absolute;inset:0 auto 0 0;background:var(--bar);border-radius:2px;min-width:1px}
.bars .mark{position:absolute;top:2px;width:12px;height:12px;margin-left:-6px;border-radius:50%;background:var(--mark);
border:1.5px solid var(--ground)}
.bars .top{position:absolute;top:-2px;bottom:-2px;border-left:2px dashed var(--faint)}
.bars .figures{text-align:right;white-space:nowrap}
.after{margin-top:16px}
.profile{font-size:.85em}
.profile th,.profile td{padding:2px 10px 2px 0;text-align:left;white-space:nowrap}
.profile .n{text-align:right}
table{border-collapse:separate;border-spacing:0;font-variant-numeric:tabular-nums}
.shapes{width:100%;font-size:.9em;white-space:nowrap}
.shapes th,.shapes td{padding:4px 10px;line-height:20px;text-align:left;border-bottom:1px solid var(--line)}
.shapes th{vertical-align:bottom;background:var(--raised);font-weight:600;line-height:1.25}
.shapes .n{text-align:right}
.shapes th button{all:unset;cursor:pointer;white-space:pre-line}
.shapes th button:focus-visible{outline:2px solid var(--link)}
.shapes th[aria-sort=ascending] button::after{content:" \25B2"}
.shapes th[aria-sort=descending] button::after{content:" \25BC"}
.shapes td:first-child,.shapes th:first-child{position:sticky;left:0;background:var(--ground)}
.shapes th:first-child{background:var(--raised)}
.shapes tbody tr:hover td{background:var(--raised)}
.v{display:inline-block;border-radius:3px;padding:0 7px;font-weight:600}
.pass{color:var(--good);background:var(--goodground)}
.fail,.error{color:var(--bad);background:var(--badground)}
.chart .fail{background:none}
details{border-bottom:1px solid var(--line)}
summary{cursor:pointer;padding:5px 0}
summary b{font-weight:600}
.inside{padding:4px 0 16px 16px}
.blocks{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:14px 32px;margin-top:14px}
.pairs{margin:0;font-size:.9em}
.pairs div{justify-content:space-between;border-bottom:1px dotted var(--line)}
.pairs dt{color:var(--faint)}
.pairs dd{text-align:right;font-variant-numeric:tabular-nums}
.verdict{margin:6px 0 10px}
.verdict p{margin:2px 0 2px 12px}
[hidden]{display:none!important}
@media (max-width:600px){main{padding:14px 12px 40px}h1{font-size:1.35em}.inside{padding-left:4px}
.bars{display:block}.bars .head{display:none}
.bars .row{display:grid;grid-template-columns:1fr max-content;gap:2px 10px;margin-bottom:8px}
.bars .figures{order:1}.bars .track{order:2;grid-column:1/-1}
.facts{grid-template-columns:1fr}}
@media print{.controls{display:none}}
)css";

constexpr llvm::StringLiteral script = R"js(
(function () {
  const body = document.getElementById('rows');
  const rows = Array.from(body.rows);
  const detailOf = row => document.getElementById(row.dataset.shape);
  const text = document.getElementById('text'), op = document.getElementById('op');
  const verdict = document.getElementById('verdict'), count = document.getElementById('count');
  document.querySelector('.controls').hidden = false;
  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      const keep = words.every(word => content.includes(word)) && (!op || !op.value || row.dataset.op === op.value) &&
        (!verdict.value || row.dataset.status === verdict.value);
      row.hidden = !keep;
      detailOf(row).hidden = !keep;
      shown += keep;
    }
    count.textContent = shown + ' of ' + rows.length + ' shapes';
  }
  for (const control of [text, op, verdict]) if (control) control.addEventListener('input', filter);
  const heads = Array.from(document.querySelectorAll('.shapes th'));
  heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
    const down = head.getAttribute('aria-sort') === 'ascending';
    for (const other of heads) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const numeric = head.classList.contains('n');
    const value = row => {
      const cell = row.cells[column], raw = cell.dataset.v ?? cell.textContent;
      return numeric ? (raw === '' ? null : Number(raw)) : raw;
    };
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      // Cells without a value stay last.
      if (x === null || y === null) return (x === null) - (y === null) || a.dataset.n - b.dataset.n;
      const order = numeric ? x - y : x < y ? -1 : x > y ? 1 : 0;
      return (down ? -order : order) || a.dataset.n - b.dataset.n;
    });
    body.append(...rows);
  }));
  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  }
  addEventListener('hashchange', openTarget);
  body.addEventListener('click', event => { if (event.target.hash === location.hash) openTarget(); });
  openTarget();
  filter();
})();
)js";

std::string escape(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

llvm::StringRef getStatusName(ShapeStatus status) {
  return status == ShapeStatus::Pass ? "pass" : status == ShapeStatus::Fail ? "fail" : "error";
}

/// "pass" or "FAIL" on its colour; "-" where there is no verdict.
std::string writeVerdict(std::optional<bool> verdict, bool isError) {
  if (isError)
    return "<span class=\"v error\">error</span>";
  if (!verdict)
    return "-";
  return *verdict ? "<span class=\"v pass\">pass</span>" : "<span class=\"v fail\">FAIL</span>";
}

std::string getAnchor(const ShapeResult &shape) {
  return escape(shape.id < 0 ? shape.op + "-case" : fmt::format("{}-{}", shape.op, shape.id));
}

std::string getTitle(const ShapeResult &shape) {
  return shape.id < 0 ? shape.op + ", stored case" : fmt::format("{} shape {}", shape.op, shape.id);
}

std::string formatNumber(double value) { return fmt::format("{:.6g}", value); }

class PageWriter {
public:
  explicit PageWriter(const RunRecord &record) : record(record) {}

  std::string write() {
    std::string chip = record.chip->name.str();
    if (!record.chip->alias.empty())
      chip += fmt::format(" ({})", record.chip->alias.str());
    groupShapes();
    std::string subject = groups.size() == 1 ? groups.front().front().op : fmt::format("{} operators", groups.size());
    std::string title = fmt::format("{} on {}", subject, chip);
    page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           // Nothing may be loaded, whatever a name in the data holds.
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
           "script-src 'unsafe-inline'\">\n";
    page += fmt::format("<title>{}</title>\n<style>", escape("Atrex bench: " + title));
    page += style.str() + getChartStyle().str() + "</style>\n</head>\n<body>\n<main>\n";
    page += fmt::format("<h1>{}</h1>\n", escape(title));
    writeHead(chip);
    if (groups.size() > 1)
      writeOperators();
    writeRoofline();
    writeCharts();
    writeTable();
    writeDetails();
    page += "</main>\n<script>" + script.str() + "</script>\n</body>\n</html>\n";
    return std::move(page);
  }

private:
  /// Shapes of one operator stand together.
  void groupShapes() {
    llvm::ArrayRef<ShapeResult> shapes = record.shapes;
    while (!shapes.empty()) {
      size_t count = 1;
      while (count < shapes.size() && shapes[count].op == shapes.front().op)
        ++count;
      groups.push_back(shapes.take_front(count));
      shapes = shapes.drop_front(count);
    }
  }

  void writeHead(const std::string &chip) {
    std::string grade;
    for (const ShapeResult &shape : record.shapes)
      if (shape.hasTime && !shape.time.grade.empty() && grade.empty())
        grade = shape.time.grade;
    if (record.isSimulated)
      page += fmt::format("<p class=\"note\"><strong>The times of this run are predictions</strong>{} of the embedded "
                          "device, not measurements. Production times are measurements of the production kernels on "
                          "that chip. S is the share of the roofline.</p>\n",
                          grade.empty() ? std::string() : escape(fmt::format(" ({})", grade)));
    else
      page += "<p class=\"note\">The times of this run are measurements, and so are the production times. S is the "
              "share of the roofline.</p>\n";
    if (record.isInterrupted)
      page += "<p class=\"note\"><strong>The run ended early</strong>; shapes that are not listed were not "
              "run.</p>\n";
    page += "<dl class=\"facts\">\n";
    auto fact = [&](const char *name, const std::string &value) {
      page += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape(value));
    };
    fact("chip", chip);
    fact("architecture", record.arch);
    fact("device", record.deviceName + (record.isSimulated ? ", embedded" : ""));
    fact("compiler", record.compilerVersion);
    fact(record.repeat > 1 ? "seeds" : "seed",
         record.repeat > 1 ? fmt::format("{} to {}", record.seed, record.seed + record.repeat - 1)
                           : std::to_string(record.seed));
    fact("check", getName(record.check).str());
    fact("inputs", fmt::format("{}", fmt::join(record.inputs, ", ")));
    fact("schedule", record.schedule);
    fact("executed",
         record.whole ? std::string("every workgroup") : fmt::format("whole up to {} elements", record.budget));
    page += "</dl>\n";
    page += fmt::format("<p>{}</p>\n", escape(summarize(record.shapes)));
  }

  std::string summarize(llvm::ArrayRef<ShapeResult> shapes) {
    size_t passed = 0, failed = 0, errors = 0;
    double sum = 0, productionSum = 0;
    size_t withProduction = 0;
    const ShapeResult *worst = nullptr;
    for (const ShapeResult &shape : shapes) {
      passed += shape.status == ShapeStatus::Pass;
      failed += shape.status == ShapeStatus::Fail;
      errors += shape.status == ShapeStatus::Error;
      sum += shape.getScore();
      if (!worst || shape.getScore() < worst->getScore())
        worst = &shape;
      if (shape.productionUs && *shape.productionUs > 0) {
        productionSum += shape.solUs / *shape.productionUs;
        ++withProduction;
      }
    }
    std::string text = fmt::format("{} {}: {} passed, {} failed, {} without a verdict.", shapes.size(),
                                   shapes.size() == 1 ? "shape" : "shapes", passed, failed, errors);
    if (worst)
      text += fmt::format(" S: mean {:.3f}, lowest {:.3f} ({})", sum / double(shapes.size()), worst->getScore(),
                          getTitle(*worst));
    if (withProduction)
      text += fmt::format("; production kernels, measured: mean {:.3f}", productionSum / double(withProduction));
    return text + (worst ? "." : "");
  }

  double getCeiling(const ShapeResult &shape) const {
    double floorUs = record.chip->launchFloorSeconds * 1e6;
    return shape.solUs > 0 ? shape.solUs / std::max(shape.solUs, floorUs) : 0;
  }

  /// A bar per operator: mean S of this run, of production, and the ceiling.
  void writeOperators() {
    struct Row {
      std::string name;
      size_t shapes = 0, passing = 0;
      double mean = 0, production = 0, ceiling = 0;
    };
    std::vector<Row> rows;
    double highest = 1;
    for (llvm::ArrayRef<ShapeResult> group : groups) {
      Row row{group.front().op, group.size()};
      size_t withProduction = 0;
      for (const ShapeResult &shape : group) {
        row.mean += shape.getScore() / double(group.size());
        row.ceiling += getCeiling(shape) / double(group.size());
        row.passing += shape.status == ShapeStatus::Pass;
        if (shape.productionUs && *shape.productionUs > 0) {
          row.production += shape.solUs / *shape.productionUs;
          ++withProduction;
        }
      }
      row.production /= double(std::max<size_t>(1, withProduction));
      highest = std::max({highest, row.mean, row.production});
      rows.push_back(row);
    }
    std::string kind = record.isSimulated ? "predicted" : "measured";
    page +=
        fmt::format("<h2>Operators</h2>\n<p class=\"faint\">Mean share of the roofline over the shapes of this run; "
                    "a shape that does not pass counts 0.</p>\n<div class=\"legend\">\n"
                    "<span><svg class=\"chart\" width=\"11\" height=\"11\"><rect class=\"bar\" width=\"11\" "
                    "height=\"11\"/></svg>this run, {}</span>\n"
                    "<span><svg class=\"chart\" width=\"11\" height=\"11\"><circle class=\"production\" cx=\"5.5\" "
                    "cy=\"5.5\" r=\"5\"/></svg>production, measured</span>\n"
                    "<span><svg class=\"chart\" width=\"6\" height=\"14\"><path class=\"limit\" d=\"M3 0 "
                    "v14\"/></svg>ceiling, set by the launch time</span>\n</div>\n",
                    kind);
    page += fmt::format("<div class=\"bars\">\n<span class=\"head\">operator, passing</span><span "
                        "class=\"head\"></span><span class=\"head figures\">{} / production / ceiling</span>\n",
                        kind);
    for (const Row &row : rows) {
      auto percent = [&](double value) { return fmt::format("{:.2f}%", value / highest * 100); };
      page += fmt::format("<div class=\"row\"><span class=\"name\">{} <span class=\"faint\">{}/{}</span></span><span "
                          "class=\"track\"><span "
                          "class=\"fill\" style=\"width:{}\"></span><span class=\"top\" style=\"left:{}\"></span>",
                          escape(row.name), row.passing, row.shapes, percent(row.mean), percent(row.ceiling));
      if (row.production > 0)
        page += fmt::format("<span class=\"mark\" style=\"left:{}\"></span>", percent(row.production));
      page += fmt::format("</span><span class=\"figures\"><b>{:.3f}</b> / {} / {:.3f}</span></div>\n", row.mean,
                          row.production > 0 ? fmt::format("{:.3f}", row.production) : "-", row.ceiling);
    }
    page += "</div>\n";
  }

  void writeRoofline() {
    llvm::Expected<Catalogue> catalogue = Catalogue::load();
    if (!catalogue) {
      llvm::consumeError(catalogue.takeError());
      return;
    }
    std::string chart = drawRoofline(record, *catalogue);
    if (chart.empty())
      return;
    page += fmt::format("<h2>Roofline</h2>\n<div class=\"legend\">\n"
                        "<span><svg class=\"chart\" width=\"11\" height=\"11\"><circle class=\"dot\" cx=\"5.5\" "
                        "cy=\"5.5\" r=\"4\"/></svg>this run, {}</span>\n"
                        "<span><svg class=\"chart\" width=\"11\" height=\"11\"><circle class=\"ring\" cx=\"5.5\" "
                        "cy=\"5.5\" r=\"4\"/></svg>production kernel, measured</span>\n</div>\n"
                        "<figure class=\"scroll\" tabindex=\"0\">\n{}</figure>\n",
                        record.isSimulated ? "predicted" : "measured", chart);
  }

  void writeCharts() {
    page += fmt::format("<h2>Share of the roofline by shape</h2>\n<div class=\"legend\">\n"
                        "<span><svg class=\"chart\" width=\"11\" height=\"11\"><rect class=\"bar\" width=\"11\" "
                        "height=\"11\"/></svg>this run, {}</span>\n"
                        "<span><svg class=\"chart\" width=\"11\" height=\"11\"><circle class=\"production\" cx=\"5.5\" "
                        "cy=\"5.5\" r=\"4\"/></svg>production kernel, measured</span>\n"
                        "<span><svg class=\"chart\" width=\"20\" height=\"11\"><path class=\"limit\" d=\"M0 5.5 "
                        "h20\"/></svg>limit set by the launch time</span>\n",
                        record.isSimulated ? "predicted" : "measured");
    if (llvm::any_of(record.shapes, [](const ShapeResult &s) { return s.status != ShapeStatus::Pass; }))
      page += "<span><svg class=\"chart\" width=\"11\" height=\"11\"><rect class=\"fail\" y=\"3\" width=\"11\" "
              "height=\"6\"/></svg>no pass</span>\n";
    page += "</div>\n<div class=\"charts\">\n";
    for (llvm::ArrayRef<ShapeResult> group : groups) {
      page += "<section>\n";
      if (groups.size() > 1)
        page +=
            fmt::format("<h3>{}</h3>\n<p class=\"faint\">{}</p>\n", escape(group.front().op), escape(summarize(group)));
      page += "<figure class=\"scroll\" tabindex=\"0\">\n" + drawInlineChart(record, group) + "</figure>\n</section>\n";
    }
    page += "</div>\n";
  }

  void writeTable() {
    page +=
        "<h2 id=\"shapes\">Shapes</h2>\n<div class=\"controls\" hidden>\n"
        "<input id=\"text\" type=\"search\" placeholder=\"filter: shape, bound, hash ...\" aria-label=\"filter\">\n";
    if (groups.size() > 1) {
      page += "<select id=\"op\" aria-label=\"operator\"><option value=\"\">all operators</option>";
      for (llvm::ArrayRef<ShapeResult> group : groups)
        page += fmt::format("<option>{}</option>", escape(group.front().op));
      page += "</select>\n";
    }
    page +=
        "<select id=\"verdict\" aria-label=\"verdict\"><option value=\"\">all verdicts</option><option value=\"pass\">"
        "passed</option><option value=\"fail\">failed</option><option value=\"error\">no verdict</option></select>\n"
        "<span id=\"count\" class=\"faint\" aria-live=\"polite\"></span>\n</div>\n"
        "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"shapes\">\n<thead><tr>";
    const char *kind = record.isSimulated ? "predicted\nus" : "measured\nus";
    const std::pair<const char *, bool> heads[] = {{"shape", true},
                                                   {"operator", false},
                                                   {"dimensions", true},
                                                   {"upstream", false},
                                                   {"strict", false},
                                                   {"output\nchecked", true},
                                                   {kind, true},
                                                   {"share of\nroofline", true},
                                                   {"of minimal\ntraffic", true},
                                                   {"ceiling", true},
                                                   {"bound", false},
                                                   {"production\nus, measured", true},
                                                   {"times faster than\nproduction", true},
                                                   {"code object", false}};
    for (const auto &[name, isNumber] : heads)
      page += fmt::format("<th scope=\"col\"{}><button>{}</button></th>", isNumber ? " class=\"n\"" : "", name);
    page += "</tr></thead>\n<tbody id=\"rows\">\n";
    for (auto [n, shape] : llvm::enumerate(record.shapes))
      writeRow(n, shape);
    page += "</tbody>\n</table>\n</div>\n";
  }

  void writeRow(size_t n, const ShapeResult &shape) {
    bool isError = shape.status == ShapeStatus::Error;
    page += fmt::format("<tr data-n=\"{}\" data-op=\"{}\" data-status=\"{}\" data-shape=\"{}\">", n, escape(shape.op),
                        getStatusName(shape.status).str(), getAnchor(shape));
    auto number = [&](std::optional<double> value, const std::string &text) {
      page += value ? fmt::format("<td class=\"n\" data-v=\"{}\">{}</td>", *value, escape(text))
                    : std::string("<td class=\"n\" data-v=\"\">-</td>");
    };
    page += fmt::format("<td class=\"n\" data-v=\"{}\"><a href=\"#{}\">{}</a></td><td>{}</td>", shape.id,
                        getAnchor(shape), shape.id < 0 ? "case" : std::to_string(shape.id), escape(shape.op));
    // Dimensions sort by the elements they describe.
    double elements = 1;
    llvm::SmallVector<llvm::StringRef> extents;
    llvm::StringRef(shape.shapeText).split(extents, " x ");
    for (llvm::StringRef extent : extents) {
      double value;
      elements *= extent.getAsDouble(value) ? 0 : value;
    }
    number(elements, shape.shapeText);
    page += fmt::format("<td>{}</td><td>{}</td>", writeVerdict(shape.upstream, isError),
                        writeVerdict(shape.strict, isError));
    bool hasFigures = !isError && shape.hasTime;
    auto onlyIf = [](bool condition, double value) { return condition ? std::optional<double>(value) : std::nullopt; };
    number(onlyIf(hasFigures, shape.getCheckedShare()), formatShare(shape.getCheckedShare()));
    number(onlyIf(hasFigures, shape.getTimeUs()), formatUs(shape.getTimeUs()));
    number(onlyIf(hasFigures, shape.getScore()), fmt::format("{:.3f}", shape.getScore()));
    bool hasMinimal = hasFigures && shape.getScore() > 0;
    double minimal = shape.minimalUs.value_or(shape.solUs) / std::max(shape.getTimeUs(), 1e-9);
    number(onlyIf(hasMinimal, minimal), fmt::format("{:.3f}", minimal));
    number(getCeiling(shape), fmt::format("{:.3f}", getCeiling(shape)));
    page += fmt::format("<td>{}</td>", hasFigures ? escape(shape.time.bound) : "-");
    number(shape.productionUs, formatUs(shape.productionUs.value_or(0)));
    double faster = shape.productionUs.value_or(0) / std::max(shape.getTimeUs(), 1e-9);
    number(onlyIf(hasMinimal && shape.productionUs, faster), fmt::format("{:.2f}", faster));
    page += fmt::format("<td class=\"hash\">{}</td></tr>\n",
                        shape.codeObjectHash.empty() ? "-" : escape(shape.codeObjectHash));
  }

  void writeDetails() {
    page += "<h2>Details</h2>\n";
    for (const ShapeResult &shape : record.shapes) {
      page += fmt::format("<details id=\"{}\"><summary><b>{}</b> <span class=\"faint\">{}</span> <span class=\"v "
                          "{}\">{}</span></summary>\n<div class=\"inside\">\n",
                          getAnchor(shape), escape(getTitle(shape)), escape(shape.shapeText),
                          getStatusName(shape.status).str(), getStatusName(shape.status).str());
      page += fmt::format("<p class=\"faint\">{}</p>\n", escape(shortenParams(shape)));
      if (!shape.error.empty())
        page += fmt::format("<pre>{}</pre>\n", escape(shape.error));
      if (std::string why = explainScore(shape); !why.empty())
        page += fmt::format("<p class=\"note\">{}.</p>\n", escape(why));
      for (const CheckResult &check : shape.checks)
        writeCheck(check);
      page += "<div class=\"blocks\">\n";
      writeTime(shape);
      writeTiming(shape);
      writeExecution(shape);
      writeCodeObject(shape);
      page += "</div>\n";
      writeProfile(shape);
      page += "<p><a href=\"#shapes\">back to the table</a></p>\n</div>\n</details>\n";
    }
  }

  static std::string shortenParams(const ShapeResult &shape) {
    std::string params = shape.params.str();
    return params.size() > 600 ? params.substr(0, 597) + "..." : params;
  }

  void writeCheck(const CheckResult &check) {
    page += fmt::format("<div class=\"verdict\"><h3>{}</h3>\n", escape(check.describe()));
    for (const std::string *fault : {&check.writeFault, &check.inputFault})
      if (!fault->empty())
        page += fmt::format("<p><span class=\"v fail\">FAIL</span> {}</p>\n", escape(*fault));
    for (const auto &[name, verdict] : check.outputs) {
      auto line = [&](const std::string &rule, const VerdictDetail &detail) {
        page += fmt::format("<p>{} output <code>{}</code>, {}: {}", writeVerdict(detail.passes, false), escape(name),
                            escape(rule), escape(detail.message));
        if (!detail.passes)
          page += escape(fmt::format("; worst at row {}, element {}: expected {:g}, got {:g}",
                                     detail.worstIndex / verdict.rowElements, detail.worstIndex % verdict.rowElements,
                                     detail.worstReference, detail.worstCandidate));
        page += "</p>\n";
      };
      // The published rule speaks about the published inputs where they were run.
      line(check.inputs == "strict" && llvm::is_contained(record.inputs, "published")
               ? "upstream (does not count on these inputs)"
               : "upstream",
           verdict.upstream);
      line("strict " + verdict.rule, verdict.strict);
    }
    page += "</div>\n";
  }

  void beginPairs(const std::string &title) {
    page += fmt::format("<div><h3>{}</h3><dl class=\"pairs\">\n", escape(title));
  }
  void pair(const std::string &name, const std::string &value) {
    page += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value));
  }
  void endPairs() { page += "</dl></div>\n"; }

  void writeTime(const ShapeResult &shape) {
    beginPairs("Time and roofline, us");
    if (shape.hasTime) {
      pair(shape.time.isPrediction ? fmt::format("predicted ({})", shape.time.grade) : "measured",
           formatUs(shape.getTimeUs()));
      for (const auto &[part, seconds] : shape.time.parts)
        pair("part: " + part, formatUs(seconds * 1e6));
      pair("bound", shape.time.bound.empty() ? "-" : shape.time.bound);
    }
    pair("roofline", formatUs(shape.solUs));
    if (shape.minimalUs)
      pair("minimal traffic", formatUs(*shape.minimalUs));
    if (shape.productionUs)
      pair("production, measured", formatUs(*shape.productionUs));
    endPairs();
  }

  /// How a measured time was taken.
  void writeTiming(const ShapeResult &shape) {
    if (!shape.timing)
      return;
    beginPairs("Measurement");
    for (const auto &[label, key] :
         {std::pair("samples", "samples"), std::pair("median, us", "median_us"), std::pair("mean, us", "mean_us"),
          std::pair("fastest, us", "minimum_us"), std::pair("spread, us", "spread_us"),
          std::pair("outliers", "outliers"), std::pair("drift", "drift"), std::pair("empty launch, us", "empty_us")})
      if (std::optional<double> number = shape.timing->getNumber(key))
        pair(label, formatNumber(*number));
    if (shape.intervalUs)
      pair("95 % interval, us",
           fmt::format("{} .. {}", formatUs(shape.intervalUs->first), formatUs(shape.intervalUs->second)));
    endPairs();
    if (const json::Array *warnings = shape.timing->getArray("warnings"))
      for (const json::Value &warning : *warnings)
        if (std::optional<llvm::StringRef> text = warning.getAsString())
          page += fmt::format("<p class=\"note\">{}</p>\n", escape(*text));
  }

  /// The costliest source lines.
  void writeProfile(const ShapeResult &shape) {
    if (shape.profile.empty())
      return;
    constexpr size_t maxLines = 24;
    page += "<h3 class=\"after\">Profile by source line</h3>\n<div class=\"scroll\" tabindex=\"0\"><table "
            "class=\"profile\"><thead><tr>"
            "<th>line</th><th class=\"n\">executions</th><th class=\"n\">vector cycles</th><th class=\"n\">matrix "
            "cycles</th><th class=\"n\">bytes loaded</th><th class=\"n\">stored</th><th class=\"n\">LDS read</th><th "
            "class=\"n\">LDS written</th></tr></thead>\n<tbody>\n";
    for (const device::LineProfile &line : llvm::ArrayRef(shape.profile).take_front(maxLines)) {
      llvm::StringRef file = line.file;
      page += fmt::format(
          "<tr><td><code>{}</code></td>",
          file.empty()
              ? std::string("(no line)")
              : escape(fmt::format(
                    "{}:{}", file.rsplit('/').second.empty() ? file.str() : file.rsplit('/').second.str(), line.line)));
      for (uint64_t value : {line.executions, line.valuCycles, line.matrixCycles, line.loadBytes, line.storeBytes,
                             line.ldsReadBytes, line.ldsWriteBytes})
        page += fmt::format("<td class=\"n\">{}</td>", value);
      page += "</tr>\n";
    }
    page += "</tbody></table></div>\n";
    if (shape.profile.size() > maxLines)
      page +=
          fmt::format("<p class=\"faint\">{} more lines are in the result file</p>\n", shape.profile.size() - maxLines);
  }

  void writeExecution(const ShapeResult &shape) {
    if (!shape.hasTime)
      return;
    beginPairs("Executed");
    pair("workgroups", fmt::format("{} of {}", shape.workgroupsExecuted, shape.workgroupsTotal));
    pair("elements checked", fmt::format("{} of {}", shape.elementsChecked, shape.elementsTotal));
    pair("waves", std::to_string(shape.stats.wavesExecuted));
    for (auto [i, name] : llvm::enumerate(getInstClassNames()))
      if (shape.stats.instructions[i])
        pair(fmt::format("instructions: {}", name), std::to_string(shape.stats.instructions[i]));
    pair("bytes loaded", std::to_string(shape.stats.loadBytes));
    pair("bytes stored", std::to_string(shape.stats.storeBytes));
    endPairs();
  }

  void writeCodeObject(const ShapeResult &shape) {
    const json::Object *entry = nullptr;
    for (const json::Object &object : record.codeObjects)
      if (object.getString("code_object_hash") == llvm::StringRef(shape.codeObjectHash))
        entry = &object;
    if (!entry)
      return;
    beginPairs("Code object");
    for (const auto &[label, key] : {std::pair("dimensions", "dims"), std::pair("hash", "code_object_hash"),
                                     std::pair("kernel source", "source_hash"), std::pair("schedule", "schedule_hash")})
      if (std::optional<llvm::StringRef> text = entry->getString(key))
        pair(label, text->str());
    for (const auto &[label, key] :
         {std::pair("VGPRs", "vgprs"), std::pair("AGPRs", "agprs"), std::pair("SGPRs", "sgprs"),
          std::pair("LDS bytes", "lds_bytes"), std::pair("scratch bytes per lane", "scratch_bytes_per_lane")})
      if (std::optional<double> number = entry->getNumber(key))
        pair(label, formatNumber(*number));
    if (shape.hasTime) {
      pair("waves per SIMD", std::to_string(shape.time.wavesPerSIMD));
      if (!shape.time.occupancyLimiter.empty())
        pair("occupancy limited by", shape.time.occupancyLimiter);
    }
    endPairs();
  }

  const RunRecord &record;
  std::vector<llvm::ArrayRef<ShapeResult>> groups;
  std::string page;
};
} // namespace

std::string bench::writePage(const RunRecord &record) { return PageWriter(record).write(); }
