// The workflow as one line: the nodes that a run has visited, in the order they were reached, with as many of their
// figures as there is room for. A press on a node chooses it, as in the whole picture.

const LINE_TITLE = 14;
const LINE_FACT = 12.5;
/** What stands around the words of a node: its padding and icon, and the arrow to the next one. */
const LINE_AROUND = 38;

/** The nodes to show as `{name, node, text, fact}`, their facts as long as `width` allows. */
function lineOf(picture, record, width) {
  const reached = [...new Set((record?.nodes ?? []).map((item) => item.node))].filter((name) => picture.nodes[name]);
  const shown = reached.map((name) => {
    const node = picture.nodes[name];
    const text = `${node.title}${node.visits > 1 ? ` ×${node.visits}` : ""}`;
    return { name, node, text, fact: "", wordings: [...(node.lines[0] ?? [])] };
  });
  let left = width - shown.reduce((sum, item) => sum + widthOf(item.text, LINE_TITLE) + LINE_AROUND, 0);
  // The shortest wordings first, so that one long one does not take what all the others need; then longer ones.
  for (const longest of [false, true]) {
    for (const item of shown) {
      const wordings = longest ? item.wordings : item.wordings.slice(-1);
      const more = (text) => widthOf(text, LINE_FACT) + 8 - (item.fact ? widthOf(item.fact, LINE_FACT) + 8 : 0);
      const fitting = wordings.find((text) => more(text) <= left);
      if (fitting === undefined || fitting === item.fact) continue;
      left -= more(fitting);
      item.fact = fitting;
    }
  }
  return shown;
}

function drawLine(place, shown, selected, onSelect) {
  const signature = JSON.stringify([shown.map((item) => [item.name, item.text, item.fact, item.node.tone]), selected]);
  if (place.dataset.drawn === signature) return;
  const focused = place.getRootNode().activeElement?.dataset?.step;
  place.dataset.drawn = signature;
  place.replaceChildren(...shown.flatMap((item, at) => {
    const { name, node, text, fact } = item;
    const press = el("button", {
      type: "button", class: `step ${node.tone}`, "data-step": name, "aria-pressed": String(selected === name),
      "aria-label": node.spoken, title: node.lines.map((line) => line[0]).join("\n"),
    }, [
      el("span", { class: "sign", "aria-hidden": "true" }, [ICONS[node.tone]]), el("strong", {}, [text]),
      fact ? el("span", { class: "figure" }, [fact]) : "",
    ]);
    press.onclick = () => onSelect(name);
    return at ? [el("span", { class: "to", "aria-hidden": "true" }, ["→"]), press] : [press];
  }));
  if (focused) place.querySelector(`[data-step="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}
