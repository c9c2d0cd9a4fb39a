// What is known of the selected cell, and the command that triages it.

const TITLES = {
  shared_bytes: "shared memory", registers: "registers", spill_bytes: "spilled", tensor_core: "tensor core",
  tensor_memory_columns: "tensor memory columns", threads: "threads", warp_specialized: "warp specialized",
  register_copies: "copies through registers", resource: "over the limit of", required: "required", limit: "limit",
  stage: "failed in", headline: "message", reason: "reason",
};

function describe(summary) {
  const heading = make("h3", {}, "Cell");
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", deselect);
  const body = summary.cells === 1 ? single(onlyCell(summary)) : several(summary);
  document.getElementById("cell").replaceChildren(make("div", { class: "title" }, heading, close), where(summary), ...body);
}

function onlyCell(summary) {
  return cellsBehind(summary).find((cell) => codes[cell] > 0);
}

function cellsBehind({ base }) {
  const { outer, inner } = membership();
  return outer.flatMap((offset) => inner.map((other) => base + offset + other));
}

/** The values that all cells behind it have. */
function where({ base }) {
  const { any } = membership();
  const list = make("dl", { class: "values" });
  axes.forEach((axis, index) => {
    if (!any.includes(index)) list.append(make("div", {}, make("dt", {}, axis.name), make("dd", {}, valueOf(base, index))));
  });
  return list;
}

function single(cell) {
  const code = data.codes[codes[cell]];
  const sure = code.probability === undefined ? "" : ` (probability ${Math.round(code.probability * 100)} % or more)`;
  const parts = [make("p", { class: "verdict" }, swatch(results[codes[cell]], isPredicted[codes[cell]]), ` ${code.words}${sure}`)];
  if (code.failure !== undefined) parts.push(failureLine(code.failure));
  return [...parts, ...resources([cell]), ...commandLine(cell)];
}

/** What compiled cells use, and what failed ones lack; of several cells the least and the greatest. */
function resources(cells) {
  // Messages that differ say in words what the numbers do.
  const values = measured(cells).filter(([name, distinct]) => name !== "headline" || distinct.length === 1);
  if (!values.length) return [];
  const list = make("dl", { class: "resources" });
  for (const [name, distinct, unit] of values)
    list.append(make("div", {}, make("dt", {}, TITLES[name] ?? name), make("dd", {}, `${spread(distinct)} ${unit}`.trim())));
  const omitted = data.omitted.map((name) => TITLES[name] ?? name).join(", ");
  return omitted ? [list, make("p", { class: "quiet" }, `In map.json: ${omitted}.`)] : [list];
}

function spread(values) {
  if (typeof values[0] !== "number") return values.map((value) => (value === true ? "yes" : value)).slice(0, 3).join(", ");
  const ends = new Set([Math.min(...values), Math.max(...values)]);
  return [...ends].map((value) => value.toLocaleString("en")).join("–");
}

const swatch = (result, predicted) =>
  make("span", { class: `swatch ${classOf(result)}${predicted ? " predicted" : ""}`, "aria-hidden": "true" }, signOf(result, predicted));

function failureLine(number) {
  const link = make("a", { href: `#failure-${number}` }, data.failures[number].headline);
  return make("p", {}, link);
}

function several(summary) {
  const behind = cellsBehind(summary).filter((cell) => codes[cell] > 0);
  const parts = [make("p", {}, `${behind.length.toLocaleString("en")} configurations:`)];
  for (const [result, number] of inOrder(summary.counts)) {
    const alike = behind.filter((cell) => results[codes[cell]] === result);
    const example = alike.find((cell) => isObserved[codes[cell]]) ?? alike[0];
    const compiled = alike.filter((cell) => isObserved[codes[cell]]).length;
    const words = { legal: "legal", untold: "could not be told", unseen: "neither compiled nor predicted" }[result] ?? (result < 0 ? "fail" : data.failures[result].headline);
    const how = result === "untold" || result === "unseen" ? "" : ` (${compiled.toLocaleString("en")} compiled)`;
    parts.push(make("p", { class: "verdict" }, swatch(result, !compiled && typeof result === "number"), ` ${words}: ${number.toLocaleString("en")}${how}`));
    if (result !== "unseen") parts.push(...resources(alike));
    if (result !== "legal" && result !== "unseen") parts.push(...commandLine(example, `For example, ${signOf(result, !compiled)}`));
  }
  if (summary.counts.size === 1 && summary.counts.has("legal")) parts.push(...commandLine(behind[0], "For example"));
  return summary.counts.size > 1 ? [...parts, ...narrowing(behind)] : parts;
}

/** Buttons that fix an axis of which any value is shown, each with the part that is legal then. */
function narrowing(behind) {
  const { any } = membership();
  const useful = any.filter((axis) => !axes[axis].inert && length(axis) > 1 && length(axis) <= 32);
  const parts = useful.map((axis) => {
    const group = make("div", { class: "narrow", role: "group", "aria-label": axes[axis].name }, make("span", {}, axes[axis].name));
    axes[axis].values.forEach((value, position) => {
      const cells = behind.filter((cell) => positionOf(cell, axis) === position);
      if (!cells.length) return;
      const legal = cells.filter((cell) => results[codes[cell]] === "legal").length;
      const illegal = cells.filter((cell) => typeof results[codes[cell]] === "number").length;
      const share = legal + illegal ? `${legalPart({ legal, illegal })} %` : "?";
      const button = make("button", { type: "button" }, `${value} `, make("small", {}, share));
      button.addEventListener("click", () => choose(axis, position));
      group.append(button);
    });
    return group;
  });
  return parts.length ? [make("h4", {}, "Narrow down (legal part)"), ...parts] : [];
}

function commandLine(cell, title = "Triage it") {
  const text = command(cell);
  const copy = make("button", { type: "button", class: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(text)) ? "Copied" : "Press Ctrl+C";
  });
  const line = make("pre", { tabindex: 0, role: "region", "aria-label": `Command: ${title}` });
  // A line ends before an option, not within it.
  text.split(/ (?=--)/).forEach((words) => line.append(make("span", { class: "option" }, words), " "));
  return [make("div", { class: "command" }, make("div", { class: "title" }, make("span", {}, title), copy), line)];
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from a file may not be allowed to.
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
