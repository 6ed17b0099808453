// One button that copies a text, and the text itself. Where a browser allows no copying, the text is selected instead.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  if (root.dataset.shown === data.text + data.lang) return;
  root.dataset.shown = data.text + data.lang;
  const text = el("pre", { class: "whole", tabindex: "0", role: "region", "aria-label": data.words.preview }, [data.text]);
  const note = el("span", { class: "muted small", role: "status" });
  const press = el("button", { type: "button", class: "button primary" }, [data.words.copy]);
  press.onclick = async () => {
    if (await copyText(data.text)) {
      press.textContent = "✓ " + data.words.copied;
      note.textContent = "";
      setTimeout(() => (press.textContent = data.words.copy), 1600);
    } else {
      select(text);
      note.textContent = data.words.select;
    }
  };
  root.replaceChildren(el("div", { class: "press" }, [press, note]), text);
}

function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = element.getRootNode().getSelection?.() ?? getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  element.focus({ preventScroll: true });
}
