// Curves of chosen experiments on one axis; experiments whose rewards do not mean the same are kept apart.
(() => {
  const SVG = "http://www.w3.org/2000/svg", HEIGHT = 300, LEFT = 52, RIGHT = 16, TOP = 16, BOTTOM = 40;
  const COLOURS = 9, SMOOTHING = 1 / 3;
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("controls"), panels = document.getElementById("panels"), gate = document.getElementById("gate");
  const titles = { steps: "global step", samples: "samples trained", hours: "hours since the first line", gpuHours: "GPU-hours", reward: "mean reward", pass: "pass@k" };
  const byKey = new Map(data.experiments.map((one, place) => [one.key, { ...one, colour: "var(--series-" + (place % COLOURS) + ")" }]));

  function along(one, axis) {
    if (axis === "gpuHours") return one.gpus ? one.hours.map((hours) => (hours === null ? null : hours * one.gpus)) : null;
    return one[axis].some((value) => value !== null) ? one[axis] : null;
  }

  function points(one, what, axis) {
    const xs = along(one, axis), found = [];
    let mean = null;
    if (xs) one[what].forEach((value, place) => {
      if (value === null || xs[place] === null) return;
      mean = mean === null ? value : SMOOTHING * value + (1 - SMOOTHING) * mean;
      found.push({ x: xs[place], y: value, smooth: mean, step: one.steps[place], warm: one.warm[place] });
    });
    return found;
  }

  function ticks(low, high, most) {
    const raw = (high - low || 1) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((part) => part * power).find((part) => part >= raw), found = [];
    for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
    return found;
  }

  function node(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function panel(group, what, axis, bounds, WIDTH) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    for (const one of group) {
      const name = document.createElement("span"), mark = document.createElement("i");
      mark.style.background = one.colour;
      name.append(mark, one.name);
      caption.append(name);
    }
    figure.append(caption);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 " + WIDTH + " " + HEIGHT);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", titles[what] + " by " + titles[axis] + ": " + group.map((one) => one.name).join(", "));
    const X = (x) => LEFT + (x - bounds.x0) / (bounds.x1 - bounds.x0 || 1) * (WIDTH - LEFT - RIGHT);
    const Y = (y) => HEIGHT - BOTTOM - (y - bounds.y0) / (bounds.y1 - bounds.y0 || 1) * (HEIGHT - TOP - BOTTOM);
    for (const y of ticks(bounds.y0, bounds.y1, 5)) {
      node(svg, "line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: Y(y), y2: Y(y) });
      node(svg, "text", { x: LEFT - 8, y: Y(y) + 4, "text-anchor": "end" }, String(y).replace("-", "−"));
    }
    for (const x of ticks(bounds.x0, bounds.x1, WIDTH / 90)) node(svg, "text", { x: X(x), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, x.toLocaleString("en"));
    node(svg, "text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, titles[axis]);
    node(svg, "text", { x: 6, y: 11 }, titles[what]);
    for (const one of group) {
      const found = points(one, what, axis);
      for (const point of found) {
        const dot = node(svg, "circle", { cx: X(point.x).toFixed(1), cy: Y(point.y).toFixed(1), r: 2.6, fill: one.colour, opacity: point.warm ? 0.2 : 0.4 });
        node(dot, "title", {}, one.name + " · step " + point.step + " · " + point.y);
      }
      node(svg, "polyline", { points: found.map((point) => X(point.x).toFixed(1) + "," + Y(point.smooth).toFixed(1)).join(" "), fill: "none", stroke: one.colour, "stroke-width": 2.2, "stroke-linejoin": "round" });
    }
    figure.append(svg);
    return figure;
  }

  /** Groups in which every pair is comparable, greedily in the order chosen. */
  function groups(chosen) {
    const apart = new Set(data.pairs.filter((pair) => !pair.comparable).flatMap((pair) => [pair.a + "\n" + pair.b, pair.b + "\n" + pair.a]));
    const made = [];
    for (const one of chosen) {
      const place = made.find((group) => group.every((other) => !apart.has(one.key + "\n" + other.key)));
      if (place) place.push(one); else made.push([one]);
    }
    return made;
  }

  function say(chosen) {
    gate.replaceChildren();
    const keys = new Set(chosen.map((one) => one.key));
    const pairs = data.pairs.filter((pair) => keys.has(pair.a) && keys.has(pair.b));
    for (const row of document.querySelectorAll("#pairs tbody tr")) row.hidden = keys.size > 1 && !(keys.has(row.dataset.a) && keys.has(row.dataset.b));
    for (const pair of pairs) {
      const line = document.createElement("p"), a = byKey.get(pair.a).name, b = byKey.get(pair.b).name;
      if (!pair.comparable) line.textContent = "Not comparable: " + a + " and " + b + " — " + pair.reasons.join("; ") + ". They are drawn apart, and no difference is given.";
      else { line.className = "fits"; line.textContent = a + " − " + b + ": reward " + pair.reward + (pair.solve_rate === "—" ? "" : ", solve rate " + pair.solve_rate) + " (" + pair.over + ")" + (pair.remarks.length ? "; " + pair.remarks.join("; ") : "") + "."; }
      gate.append(line);
    }
  }

  /** What is drawn, as a table. */
  function tabulate(drawn, what, axis) {
    const section = document.getElementById("points"), table = section.querySelector("table");
    const head = ["experiment", ...(axis === "steps" ? [] : ["global step"]), titles[axis], titles[what], "smoothed"];
    const rows = drawn.flatMap((one) => points(one, what, axis).map((point) => [
      one.name, ...(axis === "steps" ? [] : [point.step]), short(point.x), short(point.y), short(point.smooth)]));
    section.hidden = rows.length === 0;
    section.querySelector("small").textContent = rows.length + " rows";
    table.tHead.replaceChildren(line(head, "th"));
    table.tBodies[0].replaceChildren(...rows.map((row) => line(row, "td")));
  }

  function short(value) { return String(Number(value.toPrecision(5))); }

  function line(cells, kind) {
    const row = document.createElement("tr");
    for (const text of cells) { const cell = document.createElement(kind); cell.textContent = text; row.append(cell); }
    return row;
  }

  function download() {
    const quoted = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
    const safe = (text) => (/^[=+@\t\r]|^-(?!\d)/.test(text) ? "'" + text : text);
    const rows = [...document.querySelectorAll("#points tr")].map((row) => [...row.cells].map((cell) => quoted(safe(cell.textContent))).join(","));
    const copy = document.createElement("a");
    copy.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
    copy.download = "comparison.csv";
    copy.click();
    URL.revokeObjectURL(copy.href);
  }

  function draw() {
    const fields = new FormData(form), what = fields.get("what"), axis = fields.get("along");
    const chosen = fields.getAll("experiment").map((key) => byKey.get(key)).filter(Boolean);
    for (const mark of form.querySelectorAll("i[data-key]")) mark.style.background = chosen.some((one) => one.key === mark.dataset.key) ? byKey.get(mark.dataset.key).colour : "transparent";
    say(chosen);
    const drawn = chosen.filter((one) => points(one, what, axis).length);
    const without = chosen.filter((one) => !drawn.includes(one)).map((one) => one.name);
    const inside = drawn.filter((one) => axis !== "steps" && axis !== "samples" && one.hoursAre !== "clock").map((one) => one.name);
    document.getElementById("missing").textContent = [
      without.length ? "Not on this axis, since the reports do not hold it: " + without.join(", ") + "." : "",
      inside.length ? "Without a clock in the logs, so hours inside steps: " + inside.join(", ") + "." : "",
    ].join(" ");
    panels.replaceChildren();
    tabulate(drawn, what, axis);
    const all = drawn.flatMap((one) => points(one, what, axis));
    if (!all.length) return;
    const ys = all.map((point) => point.y), low = Math.min(...ys), high = Math.max(...ys), pad = (high - low || 0.1) * 0.06;
    const bounds = { x0: Math.min(0, ...all.map((point) => point.x)), x1: Math.max(...all.map((point) => point.x)), y0: low - pad, y1: high + pad };
    const apart = groups(drawn), room = Math.max(300, panels.clientWidth);
    const width = apart.length > 1 && room > 980 ? room / 2 - 10 : room;
    for (const group of apart) panels.append(panel(group, what, axis, bounds, width));
  }

  const asked = location.hash.slice(1).split("&").filter(Boolean).map(decodeURIComponent);
  const start = asked.length ? asked : data.experiments.slice(0, 2).map((one) => one.key);
  for (const box of form.querySelectorAll("input[name=experiment]")) box.checked = start.includes(box.value);
  form.addEventListener("change", () => {
    const keys = new FormData(form).getAll("experiment");
    history.replaceState(null, "", "#" + keys.map(encodeURIComponent).join("&"));
    draw();
  });
  let pause = 0;
  addEventListener("resize", () => { clearTimeout(pause); pause = setTimeout(draw, 120); });
  document.querySelector("#points button").addEventListener("click", download);
  form.addEventListener("submit", (event) => event.preventDefault());
  draw();
})();
