"use strict";
(() => {
  const partners = (group) => document.querySelectorAll(`[data-group="${group}"]`);
  const stretch = (event) => event.target instanceof Element ? event.target.closest("[data-group]") : null;
  let hot = [];

  const mark = (group) => {
    for (const element of hot) element.classList.remove("hot");
    hot = group ? [...partners(group)] : [];
    for (const element of hot) element.classList.add("hot");
  };

  const reveal = (element) => {
    const fold = element.closest("details");
    if (fold) fold.open = true;
    const box = element.getBoundingClientRect();
    if (box.top > 60 && box.top < innerHeight - 60) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ block: "center", behavior: still ? "auto" : "smooth" });
  };

  // A passage is highlighted on both sides, where the browser can highlight ranges: one range for each cell it runs through.
  const passage = (side, number) => {
    const start = document.getElementById(`${side}p${number}`), end = document.getElementById(`${side}q${number}`);
    const cells = [...document.querySelectorAll(`.row:not(.head) > .${side}`)];
    const first = cells.findIndex((cell) => cell.contains(start)), last = cells.findIndex((cell) => cell.contains(end));
    if (first < 0 || last < 0) return [];
    return cells.slice(first, last + 1).map((cell) => {
      const range = new Range();
      range.selectNodeContents(cell);
      if (cell === cells[first]) range.setStartAfter(start);
      if (cell === cells[last]) range.setEndBefore(end);
      return range;
    });
  };
  const highlight = (number) => {
    if (!window.Highlight || !CSS.highlights) return;
    CSS.highlights.set("found", new Highlight(...passage("l", number), ...passage("r", number)));
  };

  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, (event) => {
      const found = stretch(event);
      mark(found && found.dataset.group);
    });
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (!link || String(getSelection())) return;
    const target = document.getElementById(link.hash.slice(1)) || document.getElementById("cut-off");
    if (!target) return;
    event.preventDefault();
    reveal(target);
    if (link.dataset.group) {
      mark(link.dataset.group);
      target.focus({ preventScroll: true });
    } else {
      history.replaceState(null, "", link.hash);
      highlight(link.hash.slice(3));
    }
  });
})();
