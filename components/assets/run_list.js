export default function (component) {
  const { data, setTriggerValue } = component;
  const view = viewOf(component, (row) => row.id);
  view.press = (name, run, tag) => setTriggerValue("press", { name, run, tag: tag || "", serial: Date.now() });
  const { words } = data;
  const heads = [["question", words.question], ["outcome", words.outcome], ["rewrites num", words.rewrites],
    ["calls num", words.calls], ["time num", words.time], ["when", words.when], ["tools", ""]];
  drawLines(view, data, [data.rows, words, data.lang, data.fixed, data.tags], heads, line);
}

function line(view, row) {
  const { words, tags, lang } = view.data;
  const link = el("a", { class: "title", href: row.href, "data-part": "title", title: words.open }, [row.question]);
  link.onclick = (event) => {
    // Another tab or window is the browser's own business.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    view.press("open", row.id);
  };
  const star = el("button", { type: "button", class: "star", "data-part": "star", "aria-pressed": String(row.pinned), title: row.pinned ? words.unpin : words.pin, "aria-label": row.pinned ? words.unpin : words.pin }, [row.pinned ? "★" : "☆"]);
  star.onclick = () => view.press(row.pinned ? "unpin" : "pin", row.id);
  const copy = el("button", { type: "button", class: "copy", "data-part": "copy", title: words.copy, "aria-label": words.copy }, [el("i", { class: "link" })]);
  copy.onclick = async () => {
    await copyText(new URL(row.href, location.href).href);
    copy.replaceChildren("✓");
    copy.title = words.copied;
    setTimeout(() => { copy.replaceChildren(el("i", { class: "link" })); copy.title = words.copy; }, 1600);
  };
  const marks = [
    ...row.badges.map((badge) => el("span", { class: "chip " + badge.look }, [badge.text])),
    ...row.tags.map(({ tag, tip }) => {
      const away = el("button", { type: "button", class: "away", "data-part": "tag-" + tag, title: tip, "aria-label": tip }, ["×"]);
      away.onclick = () => view.press("untag", row.id, tag);
      return el("span", { class: "chip tag" }, tags ? [tag, away] : [tag]);
    }),
  ];
  const when = moment(row.started, lang);
  const cells = [
    cell("question", "", [link, row.settings ? el("div", { class: "settings" }, [row.settings]) : "", marks.length ? el("div", { class: "marks" }, marks) : ""]),
    cell("outcome", "", [el("span", { class: "chip " + row.look }, [row.outcome])]),
    cell("rewrites num", words.rewrites, [row.rewrites]),
    cell("calls num", words.calls, [row.calls]),
    cell("time num", words.time, [row.time]),
    cell("when", "", [el("time", { datetime: row.started, title: when.exact }, [when.near])]),
    cell("tools", "", tags ? [star, copy] : [copy]),
  ];
  return { look: row.damaged ? "damaged" : "", label: row.question, cells };
}

const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

function moment(iso, lang) {
  const at = new Date(iso);
  if (isNaN(at)) return { near: iso.slice(0, 19), exact: iso };
  const exact = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }).format(at);
  const past = (Date.now() - at) / 1000;
  const [unit, seconds] = UNITS.find(([, size]) => past >= size) || ["second", 1];
  const near = new Intl.RelativeTimeFormat(lang, { numeric: "auto" }).format(-Math.max(0, Math.floor(past / seconds)), unit);
  return { near, exact };
}
