"use strict";
// What lies behind a night: its trials, where it ran, and what was other than the night before. Texts are set as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("nights").textContent);
  const panel = document.createElement("div");
  panel.className = "night";
  panel.setAttribute("aria-live", "polite");
  const decoded = new Map();

  function values(cell) {  // seconds: a median a night, then all trials
    if (!decoded.has(cell)) {
      const bytes = Uint8Array.from(atob(cell.seconds), (c) => c.charCodeAt(0));
      const view = new DataView(bytes.buffer);
      const step = (cell.high - cell.low) / 65535;
      decoded.set(cell, Float64Array.from({ length: bytes.length / 2 }, (_, i) => Math.exp(cell.low + step * view.getUint16(2 * i, true))));
    }
    return decoded.get(cell);
  }

  function seconds(value) {
    const [factor, unit] = value < 0.9995e-3 ? [1e6, "µs"] : value < 0.9995 ? [1e3, "ms"] : [1, "s"];
    return `${Number((value * factor).toPrecision(3))} ${unit}`;
  }

  const date = (day) => new Date(day * 86400000).toISOString().slice(0, 10);
  const size = (cell, launch) => cell.sizes.length === 1 ? cell.sizes[0] : cell.sizes[launch];

  function trials(cell, night) {  // of each launch of the night
    let launch = 0, at = cell.days.length;
    for (let n = 0; n < night; ++n) for (let i = 0; i < cell.launches[n]; ++i) at += size(cell, launch++);
    return Array.from({ length: cell.launches[night] }, () => {
      const many = size(cell, launch++);
      return values(cell).slice(at, at += many);
    });
  }

  function add(parent, name, text) {
    const element = parent.appendChild(document.createElement(name));
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const environment = (cell, night) => new Map((data.environments[cell.environment[night]] || []).map((i) => data.attributes[i]));

  function show(chart, night) {
    const cell = data.cells[chart.dataset.cell], last = cell.days.length - 1;
    night = Math.max(0, Math.min(last, night));
    const heading = `${date(cell.days[night])}: ${seconds(values(cell)[night])}`;
    chart.setAttribute("aria-valuenow", night + 1);
    chart.setAttribute("aria-valuetext", heading);
    const path = chart.querySelector(".dots").getAttribute("d").split("M")[night + 1];
    chart.querySelector(".cursor").setAttribute("d", `M${path.split(" ")[0]} 0V100`);
    panel.replaceChildren();
    add(panel, "h5", `${heading}, the median of ${cell.launches[night]} launch${cell.launches[night] === 1 ? "" : "es"}`);
    const list = add(panel, "ul");
    trials(cell, night).forEach((one, number) => {
      const told = one.length ? Array.from(one, seconds).join(", ") : "its trials were pruned";
      add(list, "li", `launch ${number + 1}: ${told}`);
    });
    add(panel, "p", `on ${data.hosts[cell.hosts[night]] || "unknown hosts"}`);
    const now = environment(cell, night);
    if (night) {
      const before = environment(cell, night - 1);
      const names = [...new Set([...now.keys(), ...before.keys()])].filter((name) => now.get(name) !== before.get(name));
      add(panel, "p", names.length ? "Other than the night before: " + names.map((name) => `${name}: ${before.get(name) ?? "-"} → ${now.get(name) ?? "-"}`).join("; ")
        : "The environment is that of the night before.");
    }
    const more = add(panel, "details");
    add(more, "summary", "Environment");
    const body = add(add(more, "table"), "tbody");
    for (const [name, value] of now) {
      const row = add(body, "tr");
      add(row, "th", name).scope = "row";
      add(row, "td", value);
    }
    if (panel.previousElementSibling !== chart) chart.after(panel);
  }

  const current = (chart) => Number(chart.getAttribute("aria-valuenow")) - 1;

  for (const chart of document.querySelectorAll(".chart")) {
    const cell = data.cells[chart.dataset.cell];
    const places = () => chart.querySelector(".dots").getAttribute("d").split("M").slice(1).map(parseFloat);
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * 1000;
      let nearest = 0;
      places().forEach((place, night, all) => { if (Math.abs(place - x) < Math.abs(all[nearest] - x)) nearest = night; });
      show(chart, nearest);
    });
    chart.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -30, PageUp: 30, Home: -cell.days.length, End: cell.days.length, Enter: 0, " ": 0 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(chart, current(chart) + to);
    });
  }
})();
