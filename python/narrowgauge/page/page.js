// SPDX-License-Identifier: Apache-2.0
// Draws the front of an exploration, its shares and its tables, under filters. Plotly is in front of this script.
"use strict";
(() => {
  const result = JSON.parse(document.getElementById("result").textContent);
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#f0e442"];
  const symbols = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star", "hexagon"];
  const byId = (id) => document.getElementById(id);
  // Shares of a point's energy.
  const parts = [["mac_j", "products", "#0072b2"], ["sram_j", "buffers", "#56b4e9"], ["dram_j", "memory", "#d55e00"],
                 ["codec_j", "codec", "#cc79a7"], ["idle_j", "idle", "#999999"]];
  const micro = "µ";
  const prefixes = [[1e-15, "f"], [1e-12, "p"], [1e-9, "n"], [1e-6, micro], [1e-3, "m"], [1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];

  /** Three digits and a prefix. */
  function shown(value, unit) {
    if (typeof value !== "number" || !isFinite(value)) return value === null || value === undefined ? "–" : String(value);
    if (value === 0) return "0 " + unit;
    let [scale, prefix] = prefixes[0];
    for (const [size, letter] of prefixes) if (Math.abs(value) >= size) [scale, prefix] = [size, letter];
    return Number((value / scale).toPrecision(3)) + " " + prefix + unit;
  }
  const percent = (x) => (x === null || x === undefined ? "–" : Number((100 * x).toPrecision(3)) + " %");
  const area = (x) => (typeof x === "number" ? Number((x * 1e6).toPrecision(3)) + " mm²" : "–");
  const label = (p) => `${p.format}${p.sparsity === "none" ? "" : " " + p.sparsity}`;
  const array = (p) => `${p.rows}×${p.cols}×${p.lanes}`;
  const number = (x) => (typeof x === "number" ? x : x === "inf" ? Infinity : x === "-inf" ? -Infinity : NaN);

  const quantities = {
    time: ["time_s", "time [ms]", 1e-3, true], energy: ["energy_j", "energy [mJ]", 1e-3, true],
    area: ["area_m2", "area [mm²]", 1e-6, true], sqnr: ["sqnr_db", "SQNR [dB]", 1, false],
    cycles: ["cycles", "cycles", 1, true], token: ["token_j", "energy a token [mJ]", 1e-3, true],
  };
  // Key of a column, its head, what it shows, and what it sorts by.
  const columns = [
    ["point", "point", (p) => p.point], ["format", "format", (p) => label(p), "word", (p) => label(p)],
    ["energy_j", "energy", (p) => shown(p.energy_j, "J")], ["token_j", "a token", (p) => shown(p.token_j, "J")],
    ["time_s", "time", (p) => shown(p.time_s, "s")], ["array", "array", array, "", (p) => p.rows * p.cols * p.lanes],
    ["global_buffer", "buffer", (p) => (p.global_buffer ? Math.round(p.global_buffer / 1024) + " KiB" : "–")],
    ["limit", "limit", (p) => (p.memory_share > 0 ? `${p.limit} (memory ${percent(p.memory_share)})` : p.limit), "word", (p) => p.memory_share],
    ["mac_j", "products", (p) => percent(p.mac_j / p.energy_j), "", (p) => p.mac_j / p.energy_j],
    ["mac_rung", "rung", (p) => p.mac_rung || "given", "word"],
    ["mac_error", "error", (p) => (p.mac_error === null ? "–" : "± " + percent(p.mac_error))],
    ["sram_j", "buffers", (p) => percent(p.sram_j / p.energy_j), "", (p) => p.sram_j / p.energy_j],
    ["dram_j", "memory", (p) => percent(p.dram_j / p.energy_j), "", (p) => p.dram_j / p.energy_j],
    ["cache_j", "cache", (p) => `${percent(p.cache_j / p.energy_j)} (${p.cache})`, "", (p) => p.cache_j / p.energy_j],
    ["utilization", "used", (p) => percent(p.utilization)], ["area_m2", "area", (p) => area(p.area_m2)],
    ["sqnr_db", "SQNR", (p) => (typeof p.sqnr_db === "number" ? p.sqnr_db.toFixed(1) + " dB" : p.sqnr_db)],
    ["technology", "technology", (p) => p.technology, "word"],
    ["assumed", "assumed", (p) => p.assumed.length, "", (p) => p.assumed.length],
  ];
  const everywhere = new Set(["point", "format", "technology", "array", "energy_j", "mac_rung", "mac_error", "limit", "assumed"]);
  // What is the same in all points is said once, above.
  const told = columns.filter(([key, , show]) => everywhere.has(key) || new Set(result.front.map((p) => show(p))).size > 1);

  const state = { sort: "energy_j", down: false, rows: 50, chosen: null, x: "time", y: "energy", off: {} };
  const filters = [["format", (p) => p.format], ["technology", (p) => p.technology], ["sparsity", (p) => p.sparsity],
                   ["cache", (p) => p.cache], ["array", array]];

  function make(name, text, attributes = {}) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node[key] = value;
    return node;
  }

  function visible() {
    return result.front.filter((p) => filters.every(([name, of]) => !(state.off[name] && state.off[name].has(of(p)))));
  }

  function sorted() {
    const [key, , , , by] = columns.find(([name]) => name === state.sort);
    const of = by || ((p) => p[key]);
    const order = (x, y) => {
      const [a, b] = [of(x), of(y)];
      if (typeof a === "string" && typeof b === "string" && isNaN(number(a))) return a < b ? -1 : a > b ? 1 : 0;
      const [m, n] = [number(a), number(b)];
      if (isNaN(m) || isNaN(n)) return isNaN(m) - isNaN(n);
      return m < n ? -1 : m > n ? 1 : 0;
    };
    return visible().sort((x, y) => (state.down ? -1 : 1) * order(x, y));
  }

  // ---- filters

  function drawFilters() {
    for (const [name, of] of filters) {
      const values = [...new Set(result.front.map(of))];
      if (values.length < 2) continue;
      const box = make("fieldset");
      box.append(make("legend", name));
      if (values.length > 8) {
        const select = make("select", undefined, { name });
        select.setAttribute("aria-label", name);
        select.append(make("option", "all", { value: "" }));
        for (const value of values) select.append(make("option", value, { value }));
        select.onchange = () => {
          state.off[name] = new Set(select.value === "" ? [] : values.filter((value) => value !== select.value));
          draw();
        };
        box.append(select);
      } else {
        state.off[name] = new Set();
        for (const value of values) {
          const label = make("label");
          const tick = make("input", undefined, { type: "checkbox", checked: true, name, value });
          tick.onchange = () => {
            state.off[name][tick.checked ? "delete" : "add"](value);
            draw();
          };
          label.append(tick, " " + value);
          box.append(label);
        }
      }
      byId("filters").append(box);
    }
  }

  // ---- figures

  const calm = { displaylogo: false, responsive: true, displayModeBar: false };
  const small = () => window.innerWidth < 832;
  const hover = (p) =>
    [`<b>${label(p)}</b>, ${array(p)}, ${p.technology}`,
     `energy ${shown(p.energy_j, "J")}, time ${shown(p.time_s, "s")}`,
     `area ${area(p.area_m2)}, SQNR ${typeof p.sqnr_db === "number" ? p.sqnr_db.toFixed(1) : p.sqnr_db} dB`,
     parts.filter(([key]) => p[key] > 0).map(([key, name]) => `${name} ${percent(p[key] / p.energy_j)}`).join(", "),
     `products by rung ${p.mac_rung || "given"}${p.mac_error === null ? ", no stated error" : " ± " + percent(p.mac_error)}`,
     `limited by the ${p.limit}`].join("<br>");

  const ticks = [];
  for (let power = -9; power < 18; ++power) for (const digit of [1, 2, 5]) ticks.push(Number(`${digit}e${power}`));
  const formats = [...new Set(result.front.map((p) => p.format))];
  function drawFront(points) {
    const [xKey, xLabel, xUnit, xLog] = quantities[state.x], [yKey, yLabel, yUnit, yLog] = quantities[state.y];
    const kinds = [...new Set(points.map((p) => `${p.format}|${p.sparsity}`))].sort();
    const largest = Math.max(...result.front.map((p) => (typeof p.area_m2 === "number" ? p.area_m2 : 0)), 1e-30);
    const traces = kinds.map((kind) => {
      const mine = points.filter((p) => `${p.format}|${p.sparsity}` === kind);
      const at = formats.indexOf(mine[0].format) % colours.length;
      return {
        type: "scatter", mode: "markers", name: label(mine[0]), customdata: mine.map((p) => p.point),
        x: mine.map((p) => number(p[xKey]) / xUnit), y: mine.map((p) => number(p[yKey]) / yUnit),
        text: mine.map(hover), hovertemplate: "%{text}<extra></extra>",
        marker: {
          symbol: symbols[at] + (mine[0].sparsity === "none" ? "" : "-open"), color: colours[at],
          size: mine.map((p) => 8 + 14 * Math.sqrt((typeof p.area_m2 === "number" ? p.area_m2 : 0) / largest)),
          line: { width: mine.map((p) => (p.point === state.chosen ? 3 : 1)), color: mine.map((p) => (p.point === state.chosen ? "#e69f00" : colours[at])) },
        },
      };
    });
    // Within a decade a linear axis has more marks than 1, 2 and 5.
    const decades = (key) => {
      const values = points.map((p) => number(p[key])).filter((x) => isFinite(x) && x > 0);
      return Math.max(...values) > 10 * Math.min(...values);
    };
    const axis = (title, log) => ({ title: { text: title }, type: log ? "log" : "linear", automargin: true, gridcolor: "#e6e9ec", zeroline: false, ...(log ? { tickmode: "array", tickvals: ticks, ticktext: ticks.map((x) => (x >= 1e6 ? x.toExponential() : String(x))) } : {}) });
    Plotly.react("front", traces, {
      xaxis: axis(xLabel, xLog && decades(xKey)), yaxis: axis(yLabel, yLog && decades(yKey)), margin: { l: 10, r: 10, t: 10, b: 10 }, showlegend: true,
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, hovermode: "closest", dragmode: small() ? false : "zoom",
      font: { family: "system-ui, sans-serif", size: 13 }, hoverlabel: { align: "left", font: { size: small() ? 11 : 13 } },
    }, calm);
  }

  function drawShares(points) {
    const shownOnes = points.slice(0, small() ? 12 : 18).reverse();
    const names = shownOnes.map((p) => `${label(p)} ${array(p)} #${p.point}`);
    const traces = parts.filter(([key]) => shownOnes.some((p) => p[key] > 0)).map(([key, name, colour]) => ({
      type: "bar", orientation: "h", name, y: names, x: shownOnes.map((p) => (100 * p[key]) / p.energy_j),
      customdata: shownOnes.map((p) => p.point), marker: { color: colour },
      text: shownOnes.map((p) => `${name}: ${shown(p[key], "J")}, ${percent(p[key] / p.energy_j)}`), textposition: "none",
      hovertemplate: "%{y}<br>%{text}<extra></extra>",
    }));
    byId("shares").style.height = Math.max(12, 6 + 1.5 * shownOnes.length) + "rem";
    Plotly.react("shares", traces, {
      barmode: "stack", margin: { l: 10, r: 10, t: 10, b: 10 }, xaxis: { title: { text: "share [%]" }, range: [0, 100], dtick: 25, automargin: true, fixedrange: true },
      yaxis: { automargin: true, tickfont: { size: 11 }, fixedrange: true }, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, traceorder: "normal" },
      font: { family: "system-ui, sans-serif", size: 13 }, dragmode: false, showlegend: true,
    }, calm);
  }

  // ---- tables

  function drawTable(points) {
    const head = make("tr");
    for (const [key, name, , kind] of told) {
      const cell = make("th", undefined, { className: kind || "" });
      const button = make("button", name + (state.sort === key ? (state.down ? " ▼" : " ▲") : ""));
      button.onclick = () => {
        state.down = state.sort === key && !state.down;
        state.sort = key;
        draw();
      };
      cell.setAttribute("aria-sort", state.sort === key ? (state.down ? "descending" : "ascending") : "none");
      cell.append(button);
      head.append(cell);
    }
    byId("points").tHead.replaceChildren(head);
    const rows = points.slice(0, state.rows).map((p) => {
      const row = make("tr", undefined, { className: "point" + (p.point === state.chosen ? " chosen" : "") });
      row.dataset.point = p.point;
      for (const [, , show, kind] of told) row.append(make("td", show(p), { className: kind || "" }));
      row.onclick = () => choose(p.point);
      return row;
    });
    byId("points").tBodies[0].replaceChildren(...rows);
    byId("more").hidden = points.length <= state.rows;
    byId("more").textContent = `show ${Math.min(200, points.length - state.rows)} more of ${points.length}`;
  }

  function drawPrices() {
    const head = make("tr");
    for (const name of ["of", "technology", "price", "rung", "error", "where it is from"]) head.append(make("th", name, { className: name === "price" ? "" : "word" }));
    byId("prices").tHead.append(head);
    for (const source of result.sources) {
      const row = make("tr");
      const error = source.error_mean === null || source.error_mean === undefined ? "–" : `± ${percent(source.error_mean)} (${percent(source.error_max)})`;
      row.append(make("td", source.of, { className: "word" }), make("td", source.technology, { className: "word" }),
                 make("td", source.energy_j === undefined ? "× " + Number(source.ratio.toPrecision(3)) : shown(source.energy_j, "J")),
                 make("td", source.rung || "–", { className: "word" }), make("td", error, { className: "word" }),
                 make("td", source.source, { className: "long" }));
      byId("prices").tBodies[0].append(row);
    }
  }

  function drawDetail() {
    const point = result.front.find((p) => p.point === state.chosen);
    const box = byId("detail");
    box.hidden = !point;
    if (!point) return;
    const list = make("ul");
    for (const sentence of point.assumed) list.append(make("li", sentence));
    const axes = ["resident", "a_depth", "b_depth", "stream_width", "result", "compression"];
    box.replaceChildren(
      make("p", `Point ${point.point}: ${label(point)} on ${array(point)} in ${point.technology} at ${shown(point.frequency_hz, "Hz")}; ` +
        axes.map((key) => `${key} ${point[key]}`).join(", ") + "."),
      make("p", parts.map(([key, name]) => `${name} ${shown(point[key], "J")}`).join(", ") + `; ${shown(point.energy_j, "J")} in ${shown(point.time_s, "s")}.`),
      make("p", point.assumed.length ? "Assumed:" : "Nothing is assumed."), list);
  }

  function choose(point) {
    state.chosen = state.chosen === point ? null : point;
    draw();
    if (state.chosen !== null) byId("detail").scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  function draw() {
    const points = sorted();
    byId("count").textContent = `${points.length} of ${result.front.length} points of the front`;
    drawFront(points);
    drawShares(points);
    drawTable(points);
    drawDetail();
  }

  byId("title").textContent = `${result.workload || "a workload"}: energy, time, area and accuracy`;
  const settings = Object.entries(result.parameters).map(([name, value]) => `${name} ${value}`).join(", ");
  byId("what").textContent = `${shown(result.macs, "MAC")}${settings ? " (" + settings + ")" : ""}. ${result.front.length} of ${result.points} points ` +
    `are beaten by no other in ${result.space.objectives.join(", ")}; ${result.impossible} are impossible.`;
  const rungs = [...new Set(result.front.map((p) => `${p.technology} by rung ${p.mac_rung || "given"}`))];
  byId("provenance").textContent = `Products are priced in ${rungs.join(", ")}; memories by the sources below. ` +
    `narrowgauge explore, exploration ${result.exploration}.`;
  for (const axis of ["x", "y"]) {
    for (const [name, [key, text]] of Object.entries(quantities))
      if (result.front.some((p) => isFinite(number(p[key])))) byId(axis).append(make("option", text, { value: name }));
    byId(axis).value = state[axis];
    byId(axis).onchange = () => {
      state[axis] = byId(axis).value;
      draw();
    };
  }
  byId("more").onclick = () => {
    state.rows += 200;
    draw();
  };
  drawFilters();
  drawPrices();
  draw();
  for (const figure of ["front", "shares"]) byId(figure).on("plotly_click", (event) => choose(event.points[0].customdata));
  let wasSmall = small();
  window.addEventListener("resize", () => {
    if (small() !== wasSmall) {
      wasSmall = small();
      draw();
    }
  });
  document.documentElement.dataset.drawn = "yes";
})();
