// The space of the map: axes, cells by number (the last axis runs fastest), and what is known of each.

const data = JSON.parse(document.getElementById("data").textContent);
const axes = data.axes;
const strides = [];
let size = 1;
for (let axis = axes.length - 1; axis >= 0; axis--) {
  strides[axis] = size;
  size *= axes[axis].values.length;
}

const isObserved = data.codes.map(({ state }) => ["compiled", "failed", "could-not-tell"].includes(state));
const isPredicted = data.codes.map(({ state }) => state.startsWith("predicted-"));
/** What a code says of a cell, compiled or predicted: "" outside of the space, "legal", "untold", "unseen", or the
 * number of its failure; -1 where that has no letter. */
const results = data.codes.map(({ state, failure }) => {
  switch (state) {
    case "outside": return "";
    case "compiled": case "predicted-legal": return "legal";
    case "could-not-tell": return "untold";
    case "unseen": return "unseen";
    default: return failure ?? -1;
  }
});

let codes, columns, ruleCells;
/** Of a compiled cell how many were compiled before it: its number in the columns. */
const ranks = new Uint32Array(size);

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers from their planes of bytes, the lowest first. */
async function numbers(planes) {
  const bytes = await Promise.all(planes.map(inflated));
  if (bytes.length === 1) return bytes[0];
  return Uint32Array.from(bytes[0], (low, index) => bytes.reduceRight((high, plane) => high * 256 + plane[index], 0));
}

async function unpack() {
  codes = await numbers(data.cells);
  for (let cell = 0, rank = 0; cell < size; cell++) if (isObserved[codes[cell]]) ranks[cell] = rank++;
  columns = await Promise.all(data.columns.map(async (column) => ({ ...column, cells: await numbers(column.planes) })));
  ruleCells = await Promise.all(data.rules.map(inflated));
}

const isIn = (bits, cell) => (bits[cell >> 3] >> (cell & 7)) & 1;

/** The values that these cells have in the columns, of those that were compiled: [name, distinct values, unit]. */
function measured(cells) {
  const compiled = cells.filter((cell) => isObserved[codes[cell]]);
  const all = columns.map(({ name, unit, values, cells: held }) => {
    const numbers_ = new Set(compiled.map((cell) => held[ranks[cell]]).filter((number) => number > 0));
    return [name, [...numbers_].map((number) => values[number - 1]), unit];
  });
  return all.filter(([, values]) => values.length);
}

/** The offsets of all combinations of values of these axes. */
function offsets(chosen) {
  return chosen.reduce((before, axis) => {
    const steps = axes[axis].values.map((_, position) => position * strides[axis]);
    return before.flatMap((offset) => steps.map((step) => offset + step));
  }, [0]);
}

const positionOf = (cell, axis) => Math.floor(cell / strides[axis]) % axes[axis].values.length;
const valueOf = (cell, axis) => axes[axis].values[positionOf(cell, axis)];
const command = (cell) =>
  [data.command, ...axes.map((axis, index) => axis.words[positionOf(cell, index)])].filter(Boolean).join(" ");
