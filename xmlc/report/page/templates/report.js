"use strict";
(() => {
  // Sorting: ascending, descending, as it came. What has no value comes last both ways.
  const order = new Intl.Collator("en", { numeric: true });
  const key = (row, place) => {
    const text = row.cells[place].dataset.o ?? "";
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

  // Passports: shown while a number is pointed at or has the focus, pinned by a click, closed by Escape.
  const told = JSON.parse(document.getElementById("passports").textContent);
  const box = document.getElementById("passport");
  let pinned = null, waiting = 0;
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
    const close = element("button", "×", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => { hide(); number.focus(); });
    const lines = [
      ["measured", data.exact ?? number.textContent],
      [data.source === "reference" ? "accepted before" : "the paper prints", data.expected],
      ["difference", data.difference && data.interval ? `${data.difference} ${data.interval}` : data.difference],
      ["interval", data.because],
      ["calibrated on printed results", data.calibrated],
      ["verdict", data.verdict],
      ["reason", data.reason],
    ].filter(([, text]) => text);
    box.replaceChildren(close, list(lines));
    for (const place of (data.p || "").split(" ").filter(Boolean)) {
      const passport = told[Number(place)];
      box.append(element("h5", passport.title), list(passport.lines), element("code", passport.command, "command"));
    }
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
    document.querySelectorAll("button.n[aria-expanded]").forEach((number) => number.removeAttribute("aria-expanded"));
  };
  const number_of = (event) => (event.target instanceof Element ? event.target.closest("button.n") : null);
  document.addEventListener("pointerover", (event) => {
    const number = number_of(event);
    if (event.pointerType === "touch" || pinned || !number) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => show(number, false), 180);
  });
  document.addEventListener("pointerout", (event) => {
    clearTimeout(waiting);
    const to = event.relatedTarget instanceof Element ? event.relatedTarget : null;
    if (event.pointerType === "touch" || pinned || !number_of(event) || to?.closest("#passport")) return;
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

  // On paper everything is unfolded but what was not run.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .notrun)")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
