// Ages of the last lines, and the choice of experiments to compare.
(() => {
  const units = [[86400, "d"], [3600, "h"], [60, "min"]];
  for (const cell of document.querySelectorAll("td[data-t]")) {
    const time = Date.parse(cell.dataset.t);
    cell.dataset.v = Number.isNaN(time) ? "" : String(time / 1000);
    if (Number.isNaN(time)) continue;
    const seconds = (Date.now() - time) / 1000, unit = units.find(([size]) => seconds >= size);
    const age = document.createElement("span");
    age.textContent = seconds < 60 ? "just now" : Math.floor(seconds / unit[0]) + " " + unit[1] + " ago";
    age.className = "age";
    cell.prepend(age);
  }
  const link = document.getElementById("compare"), told = document.getElementById("chosen-count");
  const boxes = [...document.querySelectorAll("#experiments input[type=checkbox]")];
  const update = () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    link.href = "compare.html#" + chosen.map(encodeURIComponent).join("&");
    link.setAttribute("aria-disabled", String(chosen.length < 2));
    told.textContent = chosen.length < 2 ? "choose two or more" : chosen.length + " chosen";
  };
  for (const box of boxes) box.addEventListener("change", update);
  if (link) update();
})();
