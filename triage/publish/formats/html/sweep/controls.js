// The controls: which axes are shown how, the selected cell, the rules; with the mouse and by keyboard.

const controls = document.getElementById("controls");
const panels = document.getElementById("panels");
const NAMES = { rows: "Rows", columns: "Columns", down: "Grids down", across: "Grids across" };
let selected = null;

function field(id, label, options, value, change) {
  const select = make("select", { id }, ...options.map(([number, text]) => make("option", { value: number }, text)));
  select.value = value;
  select.addEventListener("change", () => change(Number(select.value)));
  return make("div", { class: "field" }, make("label", { for: id }, label), select);
}

function drawControls() {
  const focused = document.activeElement?.closest?.("#controls select")?.id;
  const places = Object.entries(NAMES).map(([place, label]) => {
    const options = axes.map((axis, index) => [index, axis.name]).filter(([index]) => length(index) > 1 || shown[place] === index);
    return field(place, label, [[NONE, "none"], ...options], shown[place], (axis) => move(place, axis));
  });
  const free = axes.map((_, axis) => axis).filter((axis) => !placed().includes(axis) && length(axis) > 1);
  const slice = (axis) =>
    field(`axis-${axis}`, axes[axis].name, [[NONE, "any"], ...axes[axis].values.map((value, index) => [index, value])], shown.at[axis], (at) => choose(axis, at));
  const matter = free.filter((axis) => !axes[axis].inert), inert = free.filter((axis) => axes[axis].inert);
  const { rows, columns } = extent();
  const parts = [part("firstRow", shown.rows, rows), part("firstColumn", shown.columns, columns)].filter(Boolean);
  const groups = [];
  if (matter.length) groups.push(group("Slice", matter.map(slice)));
  if (parts.length) groups.push(group("Part", parts));
  const layout = make("details", {}, make("summary", {}, "Layout"), make("div", {}, group("Axes", places)));
  if (inert.length) layout.lastChild.append(group("Without effect", inert.map(slice)));
  layout.open = controls.querySelector("details")?.open ?? matchMedia("(min-width: 60rem)").matches;
  groups.push(layout);
  controls.replaceChildren(...groups);
  if (focused) document.getElementById(focused)?.focus();
}

const group = (title, fields) => make("fieldset", {}, make("legend", {}, title), ...fields);

/** Which part of a long axis is shown. */
function part(name, axis, number) {
  const total = length(axis);
  if (total <= number) return null;
  const starts = Array.from({ length: Math.ceil(total / number) }, (_, index) => index * number);
  const text = (start) => `${start + 1}–${Math.min(start + number, total)} of ${total.toLocaleString("en")}`;
  return field(name, `${axes[axis].name}, part`, starts.map((start) => [start, text(start)]), shown[name], (start) => {
    shown[name] = start;
    redraw();
  });
}

/** Put an axis in a place; what was there goes where the axis was. */
function move(place, axis) {
  const before = Object.keys(NAMES).find((other) => shown[other] === axis && axis !== NONE);
  if (before) shown[before] = shown[place];
  shown[place] = axis;
  shown.firstRow = shown.firstColumn = 0;
  redraw();
}

function choose(axis, position) {
  shown.at[axis] = position;
  redraw();
}

/** Draw again, with the focus and the selection where they were. */
function redraw() {
  const focused = standing(document.activeElement), chosen = selected && standing(selected);
  const inside = document.getElementById("cell").contains(document.activeElement);
  draw();
  drawControls();
  selected = null;
  const again = chosen && at(chosen);
  if (again && details.get(again)) select(again, inside);
  else deselect();
  if (focused) at(focused)?.focus();
}

const grids = () => [...panels.querySelectorAll("table")];
const lines = (table) => [...table.tBodies[0].rows];
const cellsOf = (row) => [...row.querySelectorAll("[role=gridcell]")];

function standing(cell) {
  const table = cell?.closest?.("#panels table");
  if (!table || cell.getAttribute("role") !== "gridcell") return null;
  return { grid: grids().indexOf(table), row: lines(table).indexOf(cell.parentElement), column: cellsOf(cell.parentElement).indexOf(cell) };
}

function at({ grid, row, column }) {
  const table = grids()[grid];
  const line = table && lines(table)[row];
  return line ? cellsOf(line)[column] : undefined;
}

function select(cell, focusInside = false) {
  selected?.setAttribute("aria-selected", "false");
  selected = cell;
  cell.setAttribute("aria-selected", "true");
  describe(details.get(cell));
  document.body.classList.add("selecting");
  if (focusInside) document.querySelector("#cell button")?.focus();
}

function deselect() {
  const cell = selected;
  selected?.setAttribute("aria-selected", "false");
  selected = null;
  document.body.classList.remove("selecting");
  document.getElementById("cell").replaceChildren(make("p", { class: "hint" }, "Select a cell for its command and resources."));
  if (cell?.isConnected) cell.focus();
}

function focus(cell) {
  if (!cell) return;
  for (const other of cell.closest("table").querySelectorAll("[role=gridcell][tabindex='0']")) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

const MOVES = {
  ArrowUp: ({ row }) => ({ row: row - 1 }), ArrowDown: ({ row }) => ({ row: row + 1 }),
  ArrowLeft: ({ column }) => ({ column: column - 1 }), ArrowRight: ({ column }) => ({ column: column + 1 }),
  Home: (_, table, all) => ({ column: 0, ...(all ? { row: 0 } : {}) }),
  End: (_, table, all) => ({ column: cellsOf(lines(table)[0]).length - 1, ...(all ? { row: lines(table).length - 1 } : {}) }),
  PageUp: ({ grid }) => ({ grid: grid - 1 }), PageDown: ({ grid }) => ({ grid: grid + 1 }),
};

panels.addEventListener("keydown", (event) => {
  const cell = event.target.closest("[role=gridcell]");
  if (!cell || event.altKey || event.metaKey) return;
  if (event.key === "Enter" || event.key === " ") {
    if (details.get(cell)?.cells) select(cell);
  } else if (event.key === "Escape") {
    deselect();
  } else if (event.key in MOVES) {
    const before = standing(cell);
    focus(at({ ...before, ...MOVES[event.key](before, cell.closest("table"), event.ctrlKey) }));
  } else return;
  event.preventDefault();
});

panels.addEventListener("click", (event) => {
  const cell = event.target.closest("[role=gridcell]");
  if (!cell) return;
  focus(cell);
  if (details.get(cell)?.cells) select(cell);
});

document.getElementById("cell").addEventListener("keydown", (event) => {
  if (event.key === "Escape") deselect();
});

for (const button of document.querySelectorAll("[data-rule]"))
  button.addEventListener("click", () => {
    const rule = Number(button.dataset.rule);
    shown.rule = shown.rule === rule ? NONE : rule;
    for (const other of document.querySelectorAll("[data-rule]"))
      other.setAttribute("aria-pressed", String(Number(other.dataset.rule) === shown.rule));
    redraw();
  });

unpack().then(redraw, (error) => {
  document.getElementById("status").textContent = `The map cannot be shown: ${error}. It needs a browser of 2023 or newer.`;
});
