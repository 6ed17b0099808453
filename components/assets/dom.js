// Shared by the inline components: everything that reaches the page is an element built here or a text node.
function el(tag, attrs, kids) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs || {})) if (value !== null && value !== undefined) made.setAttribute(name, value);
  for (const kid of kids || []) made.append(kid);
  return made;
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// Enter and Escape that choose or drop what an input method offers; Safari tells by the code alone.
function composing(event) {
  return event.isComposing || event.keyCode === 229;
}

// Streamlit hands its theme over as CSS variables only; the meaning colours need to know which of the two it is.
function dress(root, data) {
  const background = getComputedStyle(root).getPropertyValue("--st-background-color").trim();
  root.dataset.scheme = luminance(background) < 0.4 ? "dark" : "light";
  root.lang = data.lang;
}

function luminance(colour) {
  let parts = (colour.match(/[\d.]+/g) || []).map(Number);
  if (colour.startsWith("#")) {
    const digits = colour.length < 6 ? [...colour.slice(1)].map((one) => one + one) : colour.slice(1).match(/../g);
    parts = digits.map((two) => parseInt(two, 16));
  }
  return parts.length < 3 ? 1 : (0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]) / 255;
}

/** Whether the text could be copied. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Plain http on another host has no clipboard API.
    const area = el("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
