// The grids: a table for each small multiple, of which each cell stands for one cell of the space, or for several.

const PALETTE = 9; // Colours of failures in sweep.css.
const MOST_CELLS = 12000; // A table of as many is laid out in half a second.
const MOST_PANELS = 48;
const NONE = -1;

/** What is shown: axes by number, the chosen position of each of the others (NONE: any), the first row and column. */
const shown = { ...data.layout, at: axes.map(() => NONE), firstRow: 0, firstColumn: 0, rule: NONE };
/** What each element of a grid shows, and where it stands. */
const details = new WeakMap();

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const placed = () => [shown.rows, shown.columns, shown.down, shown.across];
const length = (axis) => (axis === NONE ? 1 : axes[axis].values.length);
const step = (axis, position) => (axis === NONE ? 0 : strides[axis] * position);

/** How many rows and columns are shown at once. */
function extent() {
  const panels = Math.min(length(shown.down) * length(shown.across), MOST_PANELS);
  let rows = length(shown.rows), columns = Math.min(length(shown.columns), 64);
  while (rows > 8 && rows * columns * panels > MOST_CELLS) rows = Math.ceil(rows / 2);
  return { rows: Math.min(rows, 400), columns };
}

/** The cells that one cell of a grid stands for. Values of an axis that changes nothing are one group: a compiled cell
 * stands for the predicted ones beside it. */
function membership() {
  const free = axes.map((_, axis) => axis).filter((axis) => !placed().includes(axis));
  const any = free.filter((axis) => shown.at[axis] === NONE);
  const fixed = free.reduce((sum, axis) => sum + step(axis, Math.max(shown.at[axis], 0)), 0);
  const outer = offsets(any.filter((axis) => !axes[axis].inert));
  return { fixed, any, outer, inner: offsets(any.filter((axis) => axes[axis].inert)) };
}

/** What the cells behind one cell of a grid are: numbers by result, whether any is a mere prediction, and how many
 * of them the chosen rule covers. */
function tally(base, { outer, inner }) {
  const bits = shown.rule === NONE ? null : ruleCells[shown.rule];
  const counts = new Map();
  let predicted = false, covered = 0, cells = 0;
  for (const offset of outer) {
    let isSeen = false, isGuessed = false;
    for (const other of inner) {
      const cell = base + offset + other, code = codes[cell];
      if (code === 0) continue;
      cells++;
      isSeen ||= isObserved[code];
      isGuessed ||= isPredicted[code];
      counts.set(results[code], (counts.get(results[code]) ?? 0) + 1);
      if (bits && isIn(bits, cell)) covered++;
    }
    predicted ||= isGuessed && !isSeen;
  }
  const legal = counts.get("legal") ?? 0;
  let illegal = 0;
  for (const [result, number] of counts) if (typeof result === "number") illegal += number;
  return { base, counts, cells, legal, illegal, predicted, covered };
}

const classOf = (result) => (typeof result === "number" ? (result < 0 ? "f-" : `f${result % PALETTE}`) : result);
const letterOf = (result) => (result < 0 ? "✗" : data.failures[result].letter);

function signOf(result, predicted) {
  if (typeof result === "number") return predicted ? letterOf(result).toLowerCase() : letterOf(result);
  return { legal: predicted ? "·" : "✓", untold: "?", unseen: "-" }[result];
}

function wordsOf(result, predicted) {
  const claim = predicted ? "predicted to " : "";
  if (result === "legal") return predicted ? "predicted to compile" : "compiles";
  if (typeof result === "number") return `${claim}${predicted ? "fail" : "fails"}: ${letterOf(result)}`;
  return { untold: "could not be told", unseen: "neither compiled nor predicted" }[result];
}

/** The legal part in percent; neither 0 nor 100 where there is one of the others. */
function legalPart({ legal, illegal }) {
  const part = Math.round((100 * legal) / (legal + illegal));
  return legal && illegal ? Math.min(Math.max(part, 1), 99) : part;
}

/** Results with their numbers: legal first, then failures by letter. */
const inOrder = (counts) =>
  [...counts].sort(([a], [b]) => (typeof a === "number" ? a + 1 : a === "legal" ? -2 : 1e9) - (typeof b === "number" ? b + 1 : b === "legal" ? -2 : 1e9));

function cellElement(summary) {
  const made = make("td", { role: "gridcell", tabindex: -1 });
  const ordered = inOrder(summary.counts);
  const classes = [], words = [];
  if (!ordered.length) {
    classes.push("outside");
    words.push("not in the space");
  } else if (ordered.length === 1) {
    const [[result]] = ordered;
    classes.push(classOf(result));
    made.append(sign(signOf(result, summary.predicted)));
    words.push(wordsOf(result, summary.predicted));
  } else {
    const rest = ordered.map(([result]) => result).filter((result) => result !== "legal");
    const signs = rest.map((result) => signOf(result, summary.predicted));
    const part = summary.legal + summary.illegal ? legalPart(summary) : "?";
    classes.push("mixed");
    made.append(sign(part, make("small", {}, signs.slice(0, 3).join(" "))), bar(ordered, summary.cells));
    words.push(part === "?" ? "could not be told" : `${part} percent legal`, ...rest.map((result) => wordsOf(result, summary.predicted)));
  }
  if (summary.predicted) classes.push("predicted");
  if (summary.covered) {
    classes.push("covered");
    words.push("covered by the rule");
  }
  made.className = classes.join(" ");
  made.append(make("span", { class: "words" }, words.join(", ")));
  return made;
}

/** What is seen of a cell; its words are for those who do not see it. */
const sign = (...parts) => make("span", { "aria-hidden": "true" }, ...parts);

/** The parts of a mixed cell as a bar. */
function bar(ordered, cells) {
  const made = make("span", { class: "bar", "aria-hidden": "true" });
  for (const [result, number] of ordered) {
    const part = make("span", { class: classOf(result) });
    part.style.flexGrow = number / cells;
    made.append(part);
  }
  return made;
}

function panelTitle(down, across) {
  const parts = [[shown.down, down], [shown.across, across]].filter(([axis]) => axis !== NONE);
  const words = ([axis, at]) => (axes[axis].name === "target" ? "" : `${axes[axis].name} `) + axes[axis].values[at];
  return parts.map(words).join(", ");
}

function headElement(scope, axis, position) {
  const text = axis === NONE ? "All" : axes[axis].values[position];
  return make("th", { scope, ...(text.length > 18 ? { class: "long" } : {}) }, text);
}

function panel(down, across, members, { rows, columns }) {
  const named = (axis) => (axis === NONE ? "" : axes[axis].name);
  const title = panelTitle(down, across);
  const table = make("table", { role: "grid", "aria-label": title || "Map" });
  if (title) table.append(make("caption", {}, title));
  const rowEnd = Math.min(shown.firstRow + rows, length(shown.rows));
  const columnEnd = Math.min(shown.firstColumn + columns, length(shown.columns));
  const head = make("thead");
  if (shown.columns !== NONE) {
    const span = columnEnd - shown.firstColumn;
    head.append(make("tr", {}, make("td"), make("th", { colspan: span, scope: "colgroup", class: "axis" }, named(shown.columns))));
  }
  const heads = make("tr", {}, make("th", { scope: "col", class: "axis" }, named(shown.rows) || "All"));
  for (let column = shown.firstColumn; column < columnEnd; column++)
    heads.append(headElement("col", shown.columns, column));
  head.append(heads);
  const body = make("tbody");
  for (let row = shown.firstRow; row < rowEnd; row++) {
    const line = make("tr", {}, headElement("row", shown.rows, row));
    for (let column = shown.firstColumn; column < columnEnd; column++) {
      const base = members.fixed + step(shown.down, down) + step(shown.across, across) + step(shown.rows, row) + step(shown.columns, column);
      const summary = tally(base, members);
      const made = cellElement(summary);
      details.set(made, summary);
      line.append(made);
    }
    body.append(line);
  }
  table.append(head, body);
  const most = Math.max(columnEnd - shown.firstColumn, 1);
  table.className = [most > 16 ? "dense" : "", table.querySelector("small") ? "summary" : ""].join(" ").trim();
  const first = table.querySelector("[role=gridcell]");
  if (first) first.tabIndex = 0;
  return make("div", { class: "panel" }, table);
}

/** Draw all small multiples, and say what is shown. */
function draw() {
  const members = membership(), window_ = extent();
  const panels = document.getElementById("panels");
  const bands = [];
  let number = 0;
  for (let down = 0; down < length(shown.down) && number < MOST_PANELS; down++) {
    const band = make("div", { class: "band" });
    for (let across = 0; across < length(shown.across) && number < MOST_PANELS; across++, number++)
      band.append(panel(down, across, members, window_));
    bands.push(band);
  }
  panels.replaceChildren(...bands);
  const left = length(shown.down) * length(shown.across) - number;
  if (left > 0) panels.append(make("p", {}, `${left} more grids: choose another axis, or a value.`));
  document.getElementById("status").textContent = statement(members);
}

function statement(members) {
  const fixed = axes.filter((_, axis) => !placed().includes(axis) && shown.at[axis] !== NONE);
  const parts = fixed.map((axis) => `${axis.name} = ${axis.values[shown.at[axes.indexOf(axis)]]}`);
  const summaries = [...document.querySelectorAll("#panels [role=gridcell]")].map((cell) => details.get(cell)).filter(Boolean);
  const sum = (field) => summaries.reduce((total, summary) => total + summary[field], 0);
  const any = members.any.filter((axis) => !axes[axis].inert).map((axis) => axes[axis].name);
  if (any.length) parts.push(`any ${any.join(", ")}`);
  let text = `${parts.length ? `${parts.join("; ")}: ` : ""}${sum("legal").toLocaleString("en")} legal, ${sum("illegal").toLocaleString("en")} illegal`;
  if (shown.rule !== NONE) text += `; the rule covers ${sum("covered").toLocaleString("en")} of the cells shown`;
  return `${text}.`;
}
