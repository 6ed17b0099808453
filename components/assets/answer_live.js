// The answer while it is being written: the workflow picture hands it over as events of the window, and a card that
// waits for this run writes it where the finished answer will stand, in the same forms as `answer_blocks` makes them.

const IMAGE_OR_LINK = /(!?)\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"\n]*")?\)/g;
const LIST_ITEM = /^\s*(?:[-*•]|(\d{1,2})[.)、])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*?)#*\s*$/;
const FENCE = /^\s*(`{3,}|~{3,})[^`]*$/;
const INLINE = /\*\*([^*\n]+)\*\*|\[(\d{1,3})\]|`([^`\n]+)`/g;
const waiting = new WeakMap();

/** Let the element of `root` that waits for a run follow its answer; any earlier one stops. */
function followAnswer(root, fire) {
  waiting.get(root)?.();
  waiting.delete(root);
  const place = root.querySelector("[data-live]");
  if (!place) return;
  const run = place.dataset.live;
  const empty = [...place.childNodes];
  const write = ({ detail }) => {
    if (detail.run !== run) return;
    if (detail.text) writeAnswer(place, detail, fire);
    // A further answer begins: what was written of the one before is no longer the answer.
    else place.replaceChildren(...empty);
  };
  window.addEventListener("workbench:answer", write);
  waiting.set(root, () => window.removeEventListener("workbench:answer", write));
  window.dispatchEvent(new CustomEvent("workbench:answer-wanted", { detail: { run } }));
}

function stopFollowing(root) {
  waiting.get(root)?.();
  waiting.delete(root);
}

function writeAnswer(place, { text, passages }, fire) {
  const label = place.dataset.label;
  const inline = (line) => pieces(line, passages, label, fire);
  const made = [];
  let code = null;
  for (const raw of text.split("\n")) {
    if (FENCE.test(raw)) {
      if (!code) made.push(el("pre", {}, [(code = el("code", {}))]));
      else code = null;
      continue;
    }
    if (code) {
      code.append((code.textContent ? "\n" : "") + raw);
      continue;
    }
    const line = raw.replace(IMAGE_OR_LINK, wordsAlone).trim();
    const item = line.match(LIST_ITEM);
    const heading = line.match(HEADING);
    if (item) addItem(made, item[1], inline(item[2]));
    else if (heading) made.push(el("p", { class: "subheading" }, inline(heading[1])));
    else if (line) made.push(el("p", {}, inline(line)));
  }
  place.replaceChildren(...made);
}

function wordsAlone(all, image, label) {
  if (image) return "";
  return /^\d+$/.test(label) ? `[${label}]` : label;
}

function addItem(made, number, kids) {
  const tag = number ? "OL" : "UL";
  const last = made[made.length - 1];
  const list = last && last.tagName === tag ? last : el(tag.toLowerCase(), { start: number || null });
  if (list !== last) made.push(list);
  list.append(el("li", {}, kids));
}

function pieces(line, passages, label, fire) {
  const made = [];
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    made.push(line.slice(end, match.index));
    end = match.index + match[0].length;
    const id = match[2] && passages[match[2]];
    if (match[3]) made.push(el("code", {}, [match[3]]));
    else if (match[1]) made.push(el("strong", {}, pieces(match[1], passages, label, fire)));
    else if (id) made.push(citation(match[2], id, label, fire));
    else made.push(match[0]);
  }
  made.push(line.slice(end));
  return made;
}

function citation(number, id, label, fire) {
  const button = el("button", { type: "button", class: "cite", "aria-label": label.replace("{n}", number) }, [number]);
  button.onclick = () => fire(`open:${id}`);
  return button;
}
