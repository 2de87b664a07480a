// Tables that sort by what a cell means, and tables that filter.
const UNITS = { ms: 0.001, s: 1, min: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** The number a cell shows, units taken into account; null when it shows none. */
function cellNumber(cell) {
  if (cell.dataset.v !== undefined) return cell.dataset.v === "" ? null : Number(cell.dataset.v);
  const text = cell.textContent.trim().replace(/[\u2212]/g, "-").replace(/[,\u202f\u00a0]/g, "");
  const found = /^[<>≥≤ ]*([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-zA-Z%]*)/.exec(text);
  return found ? Number(found[1]) * (UNITS[found[2]] || 1) : null;
}

function sortBy(table, column, descending) {
  const body = table.tBodies[0], rows = [...body.rows];
  const cells = rows.map((row) => row.cells[column]);
  const numbers = cells.map(cellNumber), filled = cells.filter((cell) => cell.textContent.trim() && cell.textContent.trim() !== "—");
  const numeric = filled.length > 0 && numbers.filter((n) => n !== null).length >= filled.length;
  const sign = descending ? -1 : 1;
  const order = rows.map((_, place) => place).sort((a, b) => {
    if (!numeric) return sign * cells[a].textContent.trim().localeCompare(cells[b].textContent.trim(), "en", { numeric: true }) || a - b;
    if (numbers[a] === null || numbers[b] === null) return (numbers[a] === null) - (numbers[b] === null) || a - b;
    return sign * (numbers[a] - numbers[b]) || a - b;
  });
  body.append(...order.map((place) => rows[place]));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.tHead.rows[0].cells) {
    if (head.dataset.fixed !== undefined || !head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, head.cellIndex, descending);
    });
  }
}

for (const input of document.querySelectorAll("input[data-filters]")) {
  const table = document.getElementById(input.dataset.filters), told = document.getElementById(input.id + "-count");
  const texts = new Map([...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of texts) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    if (told) told.textContent = words.length ? shown + " of " + texts.size : "";
  });
}
