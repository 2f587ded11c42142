/** Which keys do what. */
import { Dialog } from "./dialog.tsx";
import { type StringKey, t } from "./strings.ts";

const COMMAND = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? "") ? "⌘" : "Ctrl";
const KEYS: [keys: string[], what: StringKey][] = [
  [[`${COMMAND} K`], "keyFind"],
  [["N"], "newSession"],
  [["/"], "keyWrite"],
  [["Enter"], "keySend"],
  [["Shift Enter"], "keyLine"],
  [["1", "9"], "keyOption"],
  [["Esc"], "keyClose"],
  [["?"], "keyHelp"],
];

export function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t("shortcuts")} kind="help" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key, i) => (
                <>
                  {i > 0 && " … "}
                  <kbd>{key}</kbd>
                </>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
