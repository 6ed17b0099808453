// Sentences of the picture, made from a table of words and plain values. Pure; the same is done in Python for exports.

const FRACTIONS = new Set(["pass_rate", "elapsed_s", "quality_score", "top3_relevance", "table_coverage"]);
const RELATIONS = { "<": "<", ">=": "≥", "==": "=" };

/** A sentence of the table with its places filled; `key_one` stands in where n is 1. */
export function say(words, key, values = {}) {
  const template = (values.n === 1 ? words[`${key}_one`] : undefined) ?? words[key] ?? key;
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

const titleOf = (name, words) => words[`node_${name}`] ?? plainName(name);
const routeOf = ({ route, node }, words) =>
  words[`route_${route}_from_${node}`] ?? words[`route_${route}`] ?? words[`node_${route}`] ?? plainName(route);
const reasonOf = (decision, words) => words[`reason_${decision.reason}`] ?? plainName(decision.reason);
const plainName = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
const cut = (text) => { const all = Array.from(text.trim()); return all.length > 60 ? `${all.slice(0, 59).join("")}…` : text.trim(); };

/** Each row of parts as wordings that leave out one part after the other, from the last; empty parts do not count. */
function lines(...rows) {
  return rows.map((parts) => parts.filter(Boolean)).filter((parts) => parts.length)
    .map((parts) => parts.map((_, dropped) => parts.slice(0, parts.length - dropped).join(" · ")));
}

/** What an edge prints of the newest decision that chose it, from long to short. */
function chipsOf(decision, count, words) {
  const times = count > 1 ? ` ×${count}` : "";
  const target = routeOf(decision, words);
  const short = decision.comparisons.map((item) => comparison(item, words, "short_"));
  if (!short.length) {
    const why = reasonOf(decision, words);
    return [`${why} → ${target}${times}`, `${why}${times}`];
  }
  const all = short.join(words.joint);
  return [`${all} → ${target}${times}`, `${all}${times}`, `${short[0]}${times}`];
}

function decisionLine(decision, words) {
  const named = decision.comparisons.map((item) => comparison(item, words, "quantity_")).join(words.joint);
  const why = named || reasonOf(decision, words);
  return say(words, "decision", { round: decision.round, why, target: routeOf(decision, words) });
}

function comparison(item, words, prefix) {
  const [left, right] = operands(item);
  const name = words[prefix + item.quantity] ?? item.quantity;
  return `${name ? `${name} ` : ""}${left} ${RELATIONS[item.relation]} ${right}`;
}

/** Both sides with as many digits as keep the inequality true, never `0.30 < 0.30`. */
export function operands({ quantity, value, relation, bound }) {
  if (!FRACTIONS.has(quantity)) return [fixed(value, 0), fixed(bound, 0)];
  for (let digits = 2; digits < 12; digits += 1) {
    const [left, right] = [fixed(value, digits), fixed(bound, digits)];
    const [a, b] = [Number(left), Number(right)];
    if (relation === "<" ? a < b : relation === ">=" ? a >= b : a === b) return [left, right];
  }
  return [String(value), String(bound)];
}

/** Two values and what lies between them, with the digits that make it true: `change_of` of engine/wording.py. */
export function changeOf(before, after) {
  const moved = Number((after - before).toFixed(9));
  const direction = Math.abs(moved) < 0.0005 ? 0 : Math.sign(moved);
  for (let digits = 2; digits < 12; digits += 1) {
    const [old, next] = [fixed(before, digits), fixed(after, digits)];
    const size = fixed(direction ? Math.abs(after - before) : 0, digits);
    if (direction ? old !== next && Number(size) > 0 : old === next) return { before: old, after: next, size, direction };
  }
  return { before: fixed(before, 2), after: fixed(before, 2), size: "0.00", direction: 0 };
}

/** Decimals with ties to even, as the engine prints them: 0.125 is 0.12 in both. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  const tail = value.toFixed(Math.min(digits + 20, 100)).split(".")[1]?.slice(digits) ?? "";
  if (!/^50*$/.test(tail)) return text;
  const down = Math.trunc(value * 10 ** digits);
  return ((down % 2 === 0 ? down : down + Math.sign(value)) / 10 ** digits).toFixed(digits);
}

export function duration(ms, words) {
  if (ms < 10) return say(words, "ms", { n: fixed(ms, 1) });
  if (ms < 999.5) return say(words, "ms", { n: fixed(ms, 0) });
  return say(words, "s", { n: fixed(ms / 1000, ms < 10000 ? 2 : 1) });
}

/** Width in pixels, estimated alike here and in Python, so that both shorten the same texts. */
export function widthOf(text, size) {
  let ems = 0;
  for (const char of text) {
    const code = char.codePointAt(0);
    if (code >= 0x1100 && code !== 0x2026) ems += code >= 0x2000 && code < 0x2e80 ? 0.75 : 1.0;
    else if ("ijlI.,:;'|! ()[]f·tr".includes(char)) ems += 0.3;
    else if ("mwMW@%".includes(char)) ems += 0.82;
    else ems += char >= "A" && char <= "Z" ? 0.65 : 0.53;
  }
  return ems * size;
}

/** The first wording that fits, or the last one shortened. */
export function fit(variants, width, size) {
  for (const text of variants) if (widthOf(text, size) <= width) return text;
  let chars = Array.from(variants.at(-1) ?? "");
  while (chars.length && widthOf(`${chars.join("")}…`, size) > width) chars = chars.slice(0, -1);
  return chars.length ? `${chars.join("").trimEnd()}…` : "";
}
