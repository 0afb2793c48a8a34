// A click on a head sorts by its column, and a second click reverses the order. Numbers
// are first sorted from the largest.
for (const table of document.querySelectorAll(".tieaware table")) {
  const heads = [...table.tHead.querySelectorAll("th")], body = table.tBodies[0];
  const key = (row, j) => {
    const text = row.cells[j].textContent.trim();
    const number = parseFloat(text.replace(/^[[<]/, ""));
    return heads[j].className === "name" || isNaN(number) ? text || null : number;
  };
  heads.forEach((head, j) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    if (head.title) {
      button.title = head.title;
      head.removeAttribute("title");
    }
    head.append(button);
    button.addEventListener("click", () => {
      const rises = head.className === "name";
      const up = head.hasAttribute("aria-sort")
        ? head.getAttribute("aria-sort") === "descending" : rises;
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [key(row, j), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        const order = typeof a === "number" ? a - b
          : a.localeCompare(b, undefined, {numeric: true});
        return up ? order : -order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
  // Long folded tables show only the rows of a name, or of names that contain the text.
  const folded = table.closest("details");
  if (!folded || body.rows.length <= 12) continue;
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter by name";
  input.setAttribute("aria-label", input.placeholder);
  folded.querySelector("summary").after(input);
  const names = row => [...row.cells].filter((_, j) => heads[j].className === "name")
    .map(cell => cell.textContent.trim().toLowerCase());
  input.addEventListener("input", () => {
    const text = input.value.trim().toLowerCase(), rows = [...body.rows];
    const whole = rows.some(row => names(row).includes(text));
    for (const row of rows) {
      row.hidden = !names(row).some(name => whole ? name === text : name.includes(text));
    }
  });
}
