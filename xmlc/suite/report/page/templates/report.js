"use strict";
(() => {
  // Sorting: ascending, descending, original order. Missing values come last either way.
  const order = new Intl.Collator("en", { numeric: true });
  const key = (row, place) => {
    const cell = row.cells[place];
    const text = cell.dataset.o ?? (cell.tagName === "TH" ? cell.textContent : "");
    const number = Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b)));
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      head.querySelector("button").addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const way = next === undefined ? "ascending" : next;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (way) head.setAttribute("aria-sort", way);
        const sign = way === "descending" ? -1 : 1;
        const rows = way
          ? original.map((row) => [key(row, place), row]).sort(([a], [b]) => {
              if (a === "" || b === "") return (a === "") - (b === "");
              return sign * compare(a, b);
            }).map(([, row]) => row)
          : original;
        body.append(...rows);
      });
    });
  }

  // A click on a number opens a dialog with its exact value, its verdict and the environments of its records.
  const environments = JSON.parse(document.getElementById("environments").textContent);
  const box = document.querySelector("dialog");
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const list = (lines) => {
    const made = element("dl");
    for (const [name, text] of lines) made.append(element("dt", name), element("dd", text));
    return made;
  };
  const fill = (number) => {
    const data = number.dataset;
    const verdict = number.parentElement.querySelector(".e .tag")?.textContent;
    const exact = number.parentElement.dataset.o ?? "–";
    const close = element("button", "×", "close");
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => box.close());
    const lines = [
      ["measured", Number.isNaN(Number(exact)) ? number.textContent : exact],
      ["published", data.paper],
      ["difference", data.difference && data.interval ? `${data.difference} ${data.interval}` : data.difference],
      ["interval", data.because],
      ["fitted to published results", data.fitted],
      ["verdict", verdict],
      ["reason", data.reason],
    ].filter(([, text]) => text);
    const cell = number.parentElement, table = cell.closest("table");
    const names = [...cell.parentElement.querySelectorAll("th")].map((name) => name.textContent);
    const heading = table.tHead.rows[0].cells[cell.cellIndex].textContent;
    box.replaceChildren(close, element("p", `${[table.caption.textContent, ...names].join(", ")}: ${heading}`, "headline"), list(lines));
    for (const one of data.p ? data.p.split(" ").map((place) => environments[place]) : [])
      box.append(element("h2", one.title), list(one.lines), element("code", one.command, "command"));
  };
  document.querySelectorAll("td button").forEach((number) => number.setAttribute("aria-haspopup", "dialog"));
  document.addEventListener("click", (event) => {
    const number = event.target.closest("td button");
    if (number) {
      fill(number);
      box.showModal();
    } else if (event.target === box) box.close();
  });

  // A frame is a stop of the Tab key only if its table does not fit.
  for (const frame of document.querySelectorAll(".scroll")) if (frame.scrollWidth <= frame.clientWidth) frame.removeAttribute("tabindex");

  // On paper everything is unfolded except results not run.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .notrun)")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
