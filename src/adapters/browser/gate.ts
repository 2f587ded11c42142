/**
 * What pages may do to the world, held at the browser itself: each target is stopped before it runs, gets its rules,
 * and only then goes on.
 *
 * E1  Every request of every page, frame and worker, each hop of a redirect too, is judged before it leaves.
 * E2  What cannot be judged is not there: WebSocket, WebTransport, WebRTC, service workers.
 * E3  A target whose requests cannot be held is closed, not run.
 * E4  No downloads, no files, no dialogs: each is refused, and told.
 */
import type { Cdp, CdpEvent, Params } from "./cdp.ts";
import { SHIELD } from "./page-script.ts";

/** null: the address may be asked. */
export type Refusal = (url: string) => string | null;
export type Note = (text: string) => void;

const SCREEN = { width: 1280, height: 1000 } as const;

export interface Target {
  id: string;
  type: string;
  session: string;
}

const HELD = new Set(["page", "iframe", "shared_worker"]);

/** Without these a page would have a way around. */
const VITAL = new Set([
  "Page.addScriptToEvaluateOnNewDocument",
  "Target.setAutoAttach",
  "Runtime.evaluate",
]);

/** False: it was closed, or is none that runs anything of a page. */
export async function admit(cdp: Cdp, { id, type, session }: Target): Promise<boolean> {
  // It stays stopped: a page has no use for what it was told it does not have.
  if (type === "service_worker") return false;
  try {
    if (HELD.has(type))
      await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }, session);
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
    // Sent at once, taken in order: the rules are in force before the target goes on.
    const commands: [string, Params?][] = [
      ...rules(type),
      ["Target.setAutoAttach", attach],
      ["Runtime.runIfWaitingForDebugger"],
    ];
    const asked = commands.map(([method, params]) => cdp.send(method, params, session));
    await Promise.allSettled(asked);
    // A target that did not take the shield, or whose workers would go unheld, must not stay.
    await Promise.all(asked.filter((_, i) => VITAL.has(commands[i]?.[0] ?? "")));
    return true;
  } catch {
    cdp.tell("Target.closeTarget", { targetId: id });
    return false;
  }
}

function rules(type: string): [string, Params?][] {
  // A worker within a page asks through the page, and is held there.
  if (type.endsWith("worker")) return [["Runtime.evaluate", { expression: SHIELD }]];
  if (type !== "page" && type !== "iframe") return [];
  const screen = { ...SCREEN, deviceScaleFactor: 1, mobile: false };
  return [
    ["Page.enable"],
    ["Network.enable"],
    ["Page.addScriptToEvaluateOnNewDocument", { source: SHIELD }],
    ["Page.setInterceptFileChooserDialog", { enabled: true }],
    // The same screen everywhere, and a focus that other tabs do not take.
    ...(type === "page"
      ? ([["Emulation.setDeviceMetricsOverride", screen]] as [string, Params][])
      : []),
    ["Emulation.setFocusEmulationEnabled", { enabled: true }],
  ];
}

/** Answers what a target must not decide by itself. */
export function guard(cdp: Cdp, event: CdpEvent, refusal: Refusal, note: Note): void {
  const { method, params, session } = event;
  if (method === "Fetch.requestPaused") judge(cdp, params, session, refusal, note);
  if (method === "Page.javascriptDialogOpening") dismiss(cdp, params, session, note);
  if (method === "Page.fileChooserOpened") {
    note("The page asked for a file; files cannot be given to a page here.");
  }
  if (method === "Browser.downloadWillBegin") {
    note(
      `The page wanted to download ${JSON.stringify(params.suggestedFilename)}; downloads are refused.`,
    );
  }
}

/** Addresses of these kinds ask nobody. */
const INNER = /^(data|blob|about):/i;

function judge(
  cdp: Cdp,
  params: Params,
  session: string | undefined,
  refusal: Refusal,
  note: Note,
): void {
  const { requestId } = params;
  const { url } = params.request as { url: string };
  const refused = INNER.test(url) ? null : refusal(url);
  if (refused === null) return cdp.tell("Fetch.continueRequest", { requestId }, session);
  note(`Refused: ${url} – ${refused}`);
  cdp.tell("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" }, session);
}

function dismiss(cdp: Cdp, params: Params, session: string | undefined, note: Note): void {
  const leaving = params.type === "beforeunload";
  // A page that does not want to be left is left.
  cdp.tell("Page.handleJavaScriptDialog", { accept: leaving }, session);
  if (!leaving)
    note(
      `The page showed a dialog (${params.type}): ${JSON.stringify(params.message)}. It was dismissed.`,
    );
}
