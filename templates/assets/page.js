// Deep links open what they point to, paper shows what is folded, the contents say where one is.
(() => {
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:is(.finding,.lesser):not([open])")];
    for (const node of opened) node.open = true;
  });
  addEventListener("afterprint", () => { for (const node of opened) node.open = false; });
  const links = new Map([...document.querySelectorAll(".contents a[href^='#']")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) seen.add(entry.target.id); else seen.delete(entry.target.id);
    const now = [...links.keys()].filter((id) => seen.has(id)).pop();
    for (const [id, link] of links) if (id === now) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }, { rootMargin: "-60px 0px -55% 0px" });
  for (const id of links.keys()) { const node = document.getElementById(id); if (node) watch.observe(node); }
})();
