/**
 * What runs inside a page, as text: the page has another JavaScript world than the Worker, and a bundler's helpers
 * do not exist there.
 *
 * S1  It lives in an isolated world of its own: it sees the page's elements, the page sees and changes nothing of it.
 * S2  Numbers are kept per document, and last until the next view. An element that left the page is never replaced.
 * S3  The value of a password field never leaves the page.
 * S4  Work is bounded whatever the page's size: nodes, elements, characters.
 */
import { LOOK } from "./page-look.ts";

/**
 * Before any script of a page or worker: what goes around the rules for addresses (see gate.ts) is not there. Fixed,
 * since a worker gets some of its interfaces only when its script starts.
 */
export const SHIELD = `for (const name of ["WebSocket", "WebSocketStream", "WebTransport", "RTCPeerConnection",
  "webkitRTCPeerConnection"]) Object.defineProperty(globalThis, name, { value: undefined, configurable: false, writable: false });
if (globalThis.Navigator) delete Navigator.prototype.serviceWorker;`;

/** Defines `dormouse` once per document: view, place, point, prepare, scroll. */
export const SCRIPT = `
globalThis.dormouse ??= (() => {
${LOOK}

  const found = (index) => {
    if (marks.length === 0) return { problem: "stale" };
    const el = marks[index - 1];
    if (!el) return { problem: "none", count: marks.length };
    return el.isConnected && el.ownerDocument.defaultView ? { el } : { problem: "gone" };
  };

  const usable = (index) => {
    const { el, ...lost } = found(index);
    if (!el) return lost;
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    if (el.matches(":disabled") || el.getAttribute("aria-disabled") === "true") {
      return { problem: "disabled" };
    }
    return shownAt(el) ? { el } : { problem: "hidden" };
  };

  /** Where to click, in the viewport of the page itself. */
  const point = (index) => {
    const { el, ...lost } = usable(index);
    if (!el) return lost;
    if (el.tagName === "SELECT") return { problem: "select" };
    if (el.tagName === "INPUT" && el.type === "file") return { problem: "file" };
    const { x, y } = shownAt(el);
    const hit = el.getRootNode().elementFromPoint(x, y);
    const labelled = hit?.closest("label")?.control === el;
    if (hit && hit !== el && !labelled && !el.contains(hit) && !hit.contains(el)) {
      return { problem: "covered", by: describe(hit) };
    }
    const { dx, dy } = offset(el);
    return { x: x + dx, y: y + dy };
  };

  const changed = (el) => {
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
  };

  const choose = (el, text) => {
    const wanted = squeeze(text);
    const options = [...el.options].filter((option) => !option.disabled);
    const option =
      options.find((o) => squeeze(o.label) === wanted) ??
      options.find((o) => o.value === text) ??
      options.find((o) => squeeze(o.label).toLowerCase() === wanted.toLowerCase());
    if (!option) {
      return { problem: "option", options: options.slice(0, 50).map((o) => cut(squeeze(o.label), 80)) };
    }
    if (el.multiple) option.selected = true;
    else el.value = option.value;
    if (!option.selected) el.selectedIndex = option.index;
    changed(el);
    return { done: true };
  };

  const SET = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);
  const PRESSED = new Set(["button", "submit", "reset", "image", "checkbox", "radio"]);

  /** Makes a field ready to be written into, or fills it in where writing is not how it is filled in. */
  const prepare = (index, text) => {
    const { el, ...lost } = usable(index);
    if (!el) return lost;
    if (el.tagName === "SELECT") return choose(el, text);
    if (el.tagName === "INPUT" && el.type === "file") return { problem: "file" };
    if (el.tagName === "INPUT" && PRESSED.has(el.type)) return { problem: "button" };
    const field = el.tagName === "INPUT" || el.tagName === "TEXTAREA";
    if (field && el.readOnly) return { problem: "readonly" };
    if (!field && !el.isContentEditable) return { problem: "button" };
    el.focus();
    if (el.tagName === "INPUT" && SET.has(el.type)) {
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
      set.call(el, text);
      changed(el);
      return el.value === text ? { done: true } : { problem: "value", type: el.type };
    }
    if (field) el.select();
    else el.ownerDocument.defaultView.getSelection().selectAllChildren(el);
    return { write: true };
  };

  const scroll = (direction) => {
    const back = direction === "up" || direction === "top";
    const box = scrollers().find((el) => room(el, back) > 1);
    if (!box) return { moved: false };
    const far = direction === "top" || direction === "bottom";
    const by = far ? box.scrollHeight : Math.round(box.clientHeight * 0.9);
    box.scrollBy({ top: back ? -by : by, behavior: "instant" });
    return { moved: true };
  };

  const place = () => location.href;

  return { view, place, point, prepare, scroll };
})();`;
