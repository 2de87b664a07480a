// Pictures answer to pointer and keyboard: what a mark is, the same step in every picture, a chosen range of steps.
const SVG = "http://www.w3.org/2000/svg";
const tip = document.getElementById("tip");
const pictures = [...document.querySelectorAll("figure.picture")].map(picture);
let chosen = null;

/** One figure: its rows, and the marks of each of its drawings once somebody asks for them. */
function picture(figure) {
  const table = figure.querySelector(".numbers table");
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  return { figure, titles, rows, step: titles.indexOf("global step"), marks: new Map(), at: -1 };
}

function drawn(one) { return [...one.figure.querySelectorAll("svg")].find((svg) => svg.getBoundingClientRect().width > 0); }

/** What of its own coordinates a drawing shows; it may begin beside 0, where its texts need room. */
function area(svg) { return svg.viewBox.baseVal; }

/** Marks of a drawing with the middle of each in its own coordinates, by x. */
function marksOf(one, svg) {
  if (!one.marks.has(svg)) {
    const frame = svg.getScreenCTM().inverse();
    one.marks.set(svg, [...svg.querySelectorAll("[data-r]")].map((node) => {
      const box = node.getBoundingClientRect();
      const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(frame);
      return { node, row: Number(node.dataset.r), x: middle.x, y: middle.y, w: box.width * frame.a, h: box.height * frame.d };
    }).sort((a, b) => a.x - b.x || a.row - b.row));
  }
  return one.marks.get(svg);
}

function nearest(marks, x, y) {
  let best = null, least = Infinity;
  for (const mark of marks) {
    const dx = Math.max(0, Math.abs(mark.x - x) - mark.w / 2), dy = Math.max(0, Math.abs(mark.y - y) - mark.h / 2);
    const distance = dx * dx * 4 + dy * dy;
    if (distance < least) { least = distance; best = mark; }
  }
  return best;
}

function shape(svg, name, kind, attributes) {
  const node = document.createElementNS(SVG, name);
  node.setAttribute("class", kind);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  svg.append(node);
}

function clear(kinds) { for (const node of document.querySelectorAll(".canvas svg :is(" + kinds + ")")) node.remove(); }

/** The numbers of a mark as the tip's table: titles from the figure's own table, nothing as markup. */
function tell(one, mark, x, y) {
  const table = document.createElement("table");
  (one.rows[mark.row] || []).forEach((text, column) => {
    const title = one.titles[column];
    if (!text || text === "no" || (title === "steps" && text === "1")) return;
    const line = table.insertRow(), head = document.createElement("th");
    head.textContent = title;
    line.append(head);
    line.insertCell().textContent = /^-?\d+\.\d{4,}/.test(text) ? String(Number(Number(text).toPrecision(4))) : text;
  });
  tip.replaceChildren(table);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
}

function point(one, mark, x, y) {
  clear(".here,.line");
  const svg = drawn(one);
  shape(svg, "rect", "here", { x: mark.x - mark.w / 2 - 2, y: mark.y - mark.h / 2 - 2, width: mark.w + 4, height: mark.h + 4, rx: 3 });
  if (one.step >= 0 && one.rows[mark.row]) lines(one.rows[mark.row][one.step], one);
  tell(one, mark, x, y);
}

/** The same step in the other pictures that can be seen. */
function lines(step, but) {
  for (const other of pictures) {
    if (other === but || other.step < 0 || !inView(other.figure)) continue;
    const svg = drawn(other);
    const mark = svg && marksOf(other, svg).find((m) => other.rows[m.row] && other.rows[m.row][other.step] === step);
    if (mark) shape(svg, "line", "line", { x1: mark.x, x2: mark.x, y1: area(svg).y + 8, y2: area(svg).y + area(svg).height - 30 });
  }
}

function inView(node) { const box = node.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; }
function leave() { clear(".here,.line"); tip.hidden = true; }

for (const one of pictures) {
  const canvas = one.figure.querySelector(".canvas");
  if (!canvas.querySelector("[data-r]")) continue;
  canvas.tabIndex = 0;
  let from = null;
  const place = (event) => {
    const svg = drawn(one), at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return { svg, at, mark: nearest(marksOf(one, svg), at.x, at.y) };
  };
  canvas.addEventListener("pointermove", (event) => {
    const { mark } = place(event);
    if (!mark) return;
    one.at = marksOf(one, drawn(one)).indexOf(mark);
    point(one, mark, event.clientX, event.clientY);
    if (from !== null && one.step >= 0 && event.pointerType === "mouse") choose(from, stepOf(one, mark));
  });
  canvas.addEventListener("pointerdown", (event) => {
    const { mark } = place(event);
    from = mark && one.step >= 0 && event.button === 0 && event.pointerType === "mouse" ? stepOf(one, mark) : null;
    if (from !== null) choose(null);
  });
  addEventListener("pointerup", () => { from = null; });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", (event) => keys(one, canvas, event));
}

function stepOf(one, mark) { return Number((one.rows[mark.row] || [])[one.step]); }

/** Arrows go from mark to mark, with Shift they choose steps, Escape leaves. */
function keys(one, canvas, event) {
  const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  if (event.key === "Escape") { leave(); choose(null); return; }
  if (!(event.key in moves)) return;
  event.preventDefault();
  const marks = marksOf(one, drawn(one)), before = marks[one.at];
  one.at = Math.max(0, Math.min(marks.length - 1, one.at + moves[event.key]));
  const mark = marks[one.at], spot = mark.node.getBoundingClientRect();
  if (event.shiftKey && one.step >= 0 && before) choose(chosen && chosen.from !== undefined ? chosen.from : stepOf(one, before), stepOf(one, mark));
  point(one, mark, spot.x + spot.width, spot.y + spot.height);
}

/** Shade a range of steps in every picture by step, and say its means under each. */
function choose(a, b) {
  clear(".chosen");
  for (const node of document.querySelectorAll(".chosen-steps")) node.remove();
  chosen = a === null || !Number.isFinite(a) || !Number.isFinite(b) || a === b ? null : { from: a, first: Math.min(a, b), last: Math.max(a, b) };
  if (!chosen) return;
  for (const one of pictures) {
    const svg = one.step >= 0 && drawn(one);
    if (!svg) continue;
    const marks = marksOf(one, svg).filter((mark) => { const step = stepOf(one, mark); return step >= chosen.first && step <= chosen.last; });
    if (!marks.length) continue;
    const left = Math.min(...marks.map((m) => m.x - m.w / 2)), right = Math.max(...marks.map((m) => m.x + m.w / 2));
    shape(svg, "rect", "chosen", { x: left, y: area(svg).y + 4, width: right - left, height: area(svg).height - 34 });
    say(one);
  }
}

function say(one) {
  const counts = one.titles.indexOf("is canonical");
  const rows = one.rows.filter((row) => Number(row[one.step]) >= chosen.first && Number(row[one.step]) <= chosen.last && (counts < 0 || row[counts] === "yes"));
  const means = one.titles.map((title, column) => {
    if (column === one.step || /^(steps|is |hours|samples)/.test(title)) return "";
    const numbers = rows.map((row) => row[column]).filter((text) => text !== "").map(Number);
    if (!numbers.length || numbers.some(Number.isNaN)) return "";
    return title + " " + String(Number((numbers.reduce((sum, value) => sum + value, 0) / numbers.length).toPrecision(4)));
  }).filter(Boolean);
  const line = document.createElement("p");
  line.className = "chosen-steps";
  line.textContent = "Steps " + chosen.first + "–" + chosen.last + ", means of " + rows.length + " rows: " + means.join(", ") + ". ";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "clear";
  button.addEventListener("click", () => choose(null));
  line.append(button);
  one.figure.querySelector(".canvas").after(line);
}

addEventListener("resize", () => { leave(); for (const one of pictures) one.marks.clear(); });

/** The CSV of a figure from its own table, so that a page sent without its folder still gives it. */
for (const link of document.querySelectorAll(".files a[download]")) link.addEventListener("click", (event) => {
  const one = pictures.find((candidate) => candidate.figure.contains(link));
  if (one.rows.length >= 1000) return;
  event.preventDefault();
  const quoted = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const safe = (text) => (/^[=+@\t\r]|^-(?!\d)/.test(text) ? "'" + text : text);
  const text = [one.titles.map((title) => title.replaceAll(" ", "_")), ...one.rows].map((row) => row.map(safe).map(quoted).join(",")).join("\n");
  const copy = document.createElement("a");
  copy.href = URL.createObjectURL(new Blob([text + "\n"], { type: "text/csv" }));
  copy.download = link.download;
  copy.click();
  URL.revokeObjectURL(copy.href);
});
