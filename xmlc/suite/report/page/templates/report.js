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

  // Search: rows stay if their names or the names of their table contain every word. Empty tables are hidden.
  const field = document.querySelector("#search input");
  field.closest("#search").hidden = false;
  const rows = [...document.querySelectorAll("table.sortable tbody tr")].map((row) => {
    const names = [row.closest("table").caption, ...row.querySelectorAll("th")];
    return [row, names.map((name) => name.textContent).join(" ").toLowerCase()];
  });
  const parts = [...document.querySelectorAll(".panel, .contest, .paper, article, details")].filter((part) => part.querySelector("tbody"));
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [row, names] of rows) row.hidden = !words.every((word) => names.includes(word));
    for (const part of parts) part.hidden = !part.querySelector("tbody tr:not([hidden])");
    const left = rows.filter(([row]) => !row.hidden).length;
    document.querySelector("#search output").textContent = words.length ? `${left} of ${rows.length} rows` : "";
  });

  // Environments are shown while a number is hovered or focused, pinned by a click, and closed by Escape.
  const metadata = JSON.parse(document.getElementById("environments").textContent);
  const environment = (place) => {
    const [title, ...lines] = metadata.environments[place].map((text) => metadata.texts[text]);
    const command = lines.pop();
    const shown_lines = lines.map((line) => /^(.*?): (.*)$/s.exec(line).slice(1));
    const record = shown_lines.find(([name]) => name === "record")[1];
    return { title, lines: shown_lines, command: command.endsWith(" ") ? command + record : command };
  };
  const box = document.getElementById("environment");
  let pinned = null, waiting = 0;
  document.querySelectorAll("td button").forEach((number) => number.setAttribute("aria-haspopup", "dialog"));
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
    const verdict = number.parentElement.querySelector(".s")?.title;
    const exact = number.parentElement.dataset.o ?? "–";
    const close = element("button", "×", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => { hide(); number.focus(); });
    const lines = [
      ["measured", Number.isNaN(Number(exact)) ? number.textContent : exact],
      ["published", data.paper],
      ["difference", data.difference && data.interval ? `${data.difference} ${data.interval}` : data.difference],
      ["interval", data.because],
      ["fitted to published results", data.fitted],
      ["verdict", verdict],
      ["reason", data.reason],
    ].filter(([, text]) => text);
    box.replaceChildren(close, list(lines));
    for (const one of data.p ? data.p.split(" ").map(environment) : [])
      box.append(element("h5", one.title), list(one.lines), element("code", one.command, "command"));
  };
  const place = (number) => {
    const at = number.getBoundingClientRect();
    const room = document.documentElement;
    const left = Math.max(8, Math.min(at.left, room.clientWidth - box.offsetWidth - 8));
    const spare = { above: at.top - 14, below: room.clientHeight - at.bottom - 14 };
    const below = spare.below >= Math.min(box.scrollHeight, spare.above);
    box.style.maxHeight = `${Math.max(180, below ? spare.below : spare.above)}px`;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - 6 - box.offsetHeight) + scrollY}px`;
  };
  const show = (number, pin) => {
    hide();
    fill(number);
    box.hidden = false;
    box.style.maxHeight = "";
    box.classList.toggle("pinned", pin);
    place(number);
    number.setAttribute("aria-expanded", "true");
    pinned = pin ? number : null;
  };
  const hide = () => {
    clearTimeout(waiting);
    box.hidden = true;
    pinned = null;
    document.querySelectorAll("td button[aria-expanded]").forEach((number) => number.removeAttribute("aria-expanded"));
  };
  const number_of = (event) => (event.target instanceof Element ? event.target.closest("td button") : null);
  document.addEventListener("pointerover", (event) => {
    const number = number_of(event);
    if (event.pointerType === "touch" || pinned || !number) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => show(number, false), 180);
  });
  document.addEventListener("pointerout", (event) => {
    clearTimeout(waiting);
    const to = event.relatedTarget instanceof Element ? event.relatedTarget : null;
    if (event.pointerType === "touch" || pinned || !number_of(event) || to?.closest("#environment")) return;
    if (number_of(event) !== document.activeElement) hide();
  });
  box.addEventListener("pointerleave", () => { if (!pinned) hide(); });
  document.addEventListener("focusin", (event) => {
    const number = number_of(event);
    if (number && number.matches(":focus-visible")) show(number, false);
    else if (!number && !pinned && !box.contains(event.target)) hide();
  });
  document.addEventListener("click", (event) => {
    const number = number_of(event);
    if (number) {
      if (pinned === number) hide();
      else show(number, true);
    } else if (!box.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !box.hidden) {
      const from = pinned;
      hide();
      from?.focus();
    }
  });

  // On paper everything is unfolded except results not run.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .notrun)")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
