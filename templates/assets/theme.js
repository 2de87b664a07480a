"use strict";
// Light, dark, or as the system says; remembered where the browser lets a page remember.
document.documentElement.classList.remove("no-script");
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const order = ["system", "dark", "light"], words = { system: "as the system", dark: "dark", light: "light" };
  const recall = () => { try { return localStorage.getItem("rl-theme") || "system"; } catch { return "system"; } };
  const keep = (value) => { try { localStorage.setItem("rl-theme", value); } catch { /* not allowed: forget */ } };
  const show = (value) => {
    if (value === "system") delete root.dataset.theme; else root.dataset.theme = value;
    if (button) button.setAttribute("aria-label", "Colours: " + words[value]);
  };
  let now = order.includes(recall()) ? recall() : "system";
  show(now);
  if (button) button.addEventListener("click", () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    keep(now);
    show(now);
  });
})();
