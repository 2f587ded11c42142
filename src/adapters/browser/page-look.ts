/** The part of the page's script that looks: numbered elements and text around what is scrolled to. */
export const LOOK = String.raw`
  let marks = [];
  /** Elements within each other; scripts can go deeper than a parser does, and than our stack. */
  const DEEPEST = 1000;
  const SELECTOR = [
    "a[href]", "area[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "[onclick]",
    "[contenteditable]:not([contenteditable=false])", "[tabindex]:not([tabindex^='-'])",
    ...["button", "link", "checkbox", "radio", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
      "switch", "combobox", "textbox", "searchbox", "slider", "spinbutton", "treeitem"].map((r) => "[role=" + r + "]"),
  ].join(",");
  const NO_TEXT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SELECT", "TEXTAREA", "CANVAS", "VIDEO", "AUDIO",
    "OBJECT", "svg", "HEAD", "IFRAME"]);

  const squeeze = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const cut = (text, max) => (text.length > max ? text.slice(0, max) + "…" : text);
  const quoted = (text, max) => JSON.stringify(cut(squeeze(text), max));

  const visible = (el) =>
    el.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true, contentVisibilityAuto: true });

  /** From the viewport of an element's document to the page's own. */
  const offset = (el) => {
    let dx = 0;
    let dy = 0;
    for (let win = el.ownerDocument.defaultView; win && win !== globalThis.window; ) {
      const frame = win.frameElement;
      if (!frame) break;
      const rect = frame.getBoundingClientRect();
      dx += rect.left + frame.clientLeft;
      dy += rect.top + frame.clientTop;
      win = frame.ownerDocument.defaultView;
    }
    return { dx, dy };
  };

  /** The middle of the first part of it that can be hit. */
  const shownAt = (el) => {
    const { innerWidth, innerHeight } = el.ownerDocument.defaultView;
    for (const { left, right, top, bottom } of el.getClientRects()) {
      const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
      const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
      const inside = x >= 0 && x < innerWidth && y >= 0 && y < innerHeight;
      if (right - left >= 1 && bottom - top >= 1 && inside) return { x, y };
    }
    return null;
  };

  const nameOf = (el) => {
    const by = (el.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const root = el.getRootNode();
    const texts = by.map((id) => root.getElementById?.(id)?.textContent ?? "");
    const label = el.labels?.[0];
    const own = "innerText" in el && !["SELECT", "TEXTAREA"].includes(el.tagName) ? el.innerText : "";
    const pressed = el.tagName === "INPUT" && ["submit", "button", "reset"].includes(el.type);
    const candidates = [
      texts.join(" "), el.getAttribute("aria-label"), label && textOfLabel(label, el), pressed ? el.value || el.type : "",
      own, el.getAttribute("alt"), el.querySelector?.("img[alt]")?.getAttribute("alt"),
      el.querySelector?.("svg title")?.textContent, el.getAttribute("placeholder"), el.getAttribute("title"),
      el.getAttribute("name"),
    ];
    return cut(squeeze(candidates.find((text) => squeeze(text) !== "") ?? ""), 120);
  };
  /** A label around a list holds the list's options too. */
  const textOfLabel = (label, el) => {
    if (!label.contains(el)) return label.innerText;
    return [...label.childNodes].map((node) => (node.contains(el) ? "" : node.textContent)).join(" ");
  };

  const address = (el) => {
    const raw = el.getAttribute("href") ?? "";
    const url = URL.parse(raw, el.ownerDocument.baseURI);
    if (!url) return raw;
    return url.origin === location.origin ? url.pathname + url.search + url.hash : url.href;
  };

  const valueOf = (el) => {
    if (el.tagName === "SELECT") {
      const chosen = [...el.selectedOptions].slice(0, 10).map((o) => quoted(o.label, 40)).join(", ");
      const options = [...el.options].slice(0, 12).map((o) => quoted(o.label, 40)).join(", ");
      const more = el.options.length > 12 ? ", … " + (el.options.length - 12) + " more" : "";
      return " = " + (chosen || "nothing") + "; options: " + options + more;
    }
    if (el.tagName !== "TEXTAREA" && el.tagName !== "INPUT") return "";
    if (["checkbox", "radio", "submit", "button", "reset", "image", "file"].includes(el.type)) return "";
    // Whatever it is turned into for showing, a field that was made for a password keeps it.
    const secret = el.type === "password" || /password/.test(el.autocomplete);
    if (secret) return el.value === "" ? " = \"\"" : " = (hidden)";
    return " = " + quoted(el.value, 80);
  };

  const stateOf = (shown) => {
    const el = shown.tagName === "LABEL" && shown.control ? shown.control : shown;
    const aria = (name) => el.getAttribute("aria-" + name);
    const box = el.tagName === "INPUT" && (el.type === "checkbox" || el.type === "radio");
    const checked = box ? String(el.checked) : aria("checked");
    const open = aria("expanded");
    const states = [
      checked === null ? "" : checked === "true" ? "checked" : checked === "mixed" ? "partly checked" : "not checked",
      open === null ? "" : open === "true" ? "expanded" : "collapsed",
      aria("selected") === "true" ? "selected" : "",
      aria("pressed") === "true" ? "pressed" : "",
      el.matches(":disabled") || aria("disabled") === "true" ? "disabled" : "",
      el.readOnly && el.tagName !== "BUTTON" ? "read only" : "",
      el.required ? "required" : "",
      el.getRootNode().activeElement === el ? "focused" : "",
    ].filter(Boolean);
    return states.length > 0 ? " (" + states.join(", ") + ")" : "";
  };

  const describe = (el) => {
    const tag = el.tagName.toLowerCase();
    const type = tag === "input" ? " type=" + el.type : "";
    const role = el.getAttribute("role");
    const kind = "<" + tag + type + (role ? " role=" + cut(squeeze(role), 20) : "") + ">";
    const to = tag === "a" || tag === "area" ? " → " + cut(address(el), 120) : "";
    const name = nameOf(el);
    return kind + (name ? " " + name : "") + valueOf(el) + stateOf(el) + to;
  };

  /** Boxes under the middle of the page that scroll, innermost first, then the page. */
  const scrollers = () => {
    const boxes = [];
    let el = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    for (; el; el = el.parentElement ?? el.getRootNode().host) {
      if (el === document.scrollingElement || el.scrollHeight <= el.clientHeight + 1) continue;
      if (/auto|scroll|overlay/.test(getComputedStyle(el).overflowY)) boxes.push(el);
    }
    return document.scrollingElement ? [...boxes, document.scrollingElement] : boxes;
  };
  const room = (el, back) => (back ? el.scrollTop : el.scrollHeight - el.clientHeight - el.scrollTop);

  /** The part of a long text that lies between two heights. */
  const slice = (node, top, bottom) => {
    const range = node.ownerDocument.createRange();
    const at = (i) => {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      return range.getBoundingClientRect();
    };
    const first = (test) => {
      let low = 0;
      let high = node.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (test(at(middle))) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    return node.data.slice(first((r) => r.bottom > top), first((r) => r.top > bottom));
  };

  /** Elements and text from the upper edge of what is seen to one screen below it. */
  const view = (limits) => {
    const bottom = 2 * innerHeight;
    const parts = [];
    const listed = [];
    let unlisted = 0;
    let length = 0;
    let nodes = 0;
    let depth = 0;
    let below = false;
    const say = (text) => {
      if (length >= limits.text) {
        below ||= text.trim() !== "";
        return;
      }
      length += text.length;
      parts.push(text);
    };
    const words = (node, dy, style, rect) => {
      const tall = rect.height > innerHeight / 2;
      const text = tall ? slice(node, -dy, bottom - dy) : node.data;
      say(/^(pre|break-spaces)/.test(style.whiteSpace) ? text : text.replace(/\s+/g, " "));
    };
    const walk = (el, dx, dy, quiet) => {
      if (++nodes > limits.nodes || depth >= DEEPEST) return;
      depth++;
      step(el, dx, dy, quiet);
      depth--;
    };
    const step = (el, dx, dy, quiet) => {
      if (!el.checkVisibility()) return;
      const rect = el.getBoundingClientRect();
      const flat = rect.width === 0 && rect.height === 0;
      const inside = !flat && rect.bottom + dy > 0 && rect.top + dy < bottom;
      const seen = inside && visible(el);
      const style = seen ? getComputedStyle(el) : null;
      if (seen && (el.matches(SELECTOR) || standsFor(el) || pointed(el, style))) {
        if (listed.length < limits.elements) listed.push(el);
        else unlisted++;
      }
      const mute = quiet || NO_TEXT.has(el.tagName);
      const block = seen && !/^(inline|contents)/.test(style.display);
      if (block) say(style.display === "table-cell" ? " | " : "\n");
      if (seen && /^inline-/.test(style.display)) say(" ");
      if (seen && !mute && el.tagName === "LI") say("- ");
      if (seen && !mute && /^H[1-6]$/.test(el.tagName)) say("#".repeat(Number(el.tagName[1])) + " ");
      if (seen && el.tagName === "IMG" && el.alt) say("[image: " + cut(squeeze(el.alt), 120) + "]");
      if (el.tagName === "BR") say("\n");
      for (const child of within(el)) {
        if (child.nodeType === 3 && seen && !mute) words(child, dy, style, rect);
        else if (child.nodeType === 1) walk(child, dx, dy, mute);
      }
      frame(el, rect, dx, dy);
      if (block && style.display !== "table-cell") say("\n");
    };
    /** Slotted children stand where their slot is. */
    const within = (el) => {
      if (el.tagName === "SLOT") {
        const assigned = el.assignedNodes();
        if (assigned.length > 0) return assigned;
      }
      return (el.shadowRoot ?? el).childNodes;
    };
    const frame = (el, rect, dx, dy) => {
      if (el.tagName !== "IFRAME" && el.tagName !== "FRAME") return;
      const body = el.contentDocument?.body;
      if (body) walk(body, dx + rect.left + el.clientLeft, dy + rect.top + el.clientTop, false);
      else if (visible(el) && rect.height > 20) say("\n[a frame of another site, not shown]\n");
    };
    /** The label of a box that is itself not to be seen, as custom check boxes are made. */
    const standsFor = (el) => {
      if (el.tagName !== "LABEL" || !/^(checkbox|radio|file)$/.test(el.control?.type)) return false;
      const { width, height } = el.control.getBoundingClientRect();
      return width <= 1 || height <= 1 || !visible(el.control);
    };
    /** Made clickable by a script alone: it shows a hand where what is around it does not. */
    const pointed = (el, style) =>
      style.cursor === "pointer" &&
      !el.closest("a,button,label,select,[role=button],[role=link]") &&
      el.parentElement !== null &&
      getComputedStyle(el.parentElement).cursor !== "pointer";
    if (document.body) walk(document.body, 0, 0, false);
    marks = listed;
    const boxes = scrollers();
    return {
      url: location.href,
      title: document.title,
      elements: listed.map(describe),
      unlisted,
      text: parts.join("").replace(/[ \t]*\n\s*/g, "\n").trim(),
      above: boxes.some((el) => room(el, true) > 1),
      below: below || nodes > limits.nodes || boxes.some((el, i) =>
        room(el, false) > (i === boxes.length - 1 ? innerHeight : 1)),
    };
  };`;
