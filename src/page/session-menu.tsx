/** What can be done with a whole session, in the list and in its head alike. */
import { useContext } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api, errorWords } from "./api.ts";
import { save } from "./files/save.ts";
import { Menu, type MenuItem } from "./menu.tsx";
import { goTo } from "./route.ts";
import { Shell } from "./shell.ts";
import { t } from "./strings.ts";

interface Props {
  session: SessionInfo;
  small?: boolean;
  onChanged?(session: SessionInfo): void;
}

export function SessionMenu({ session, small = false, onChanged }: Props) {
  const shell = useContext(Shell);
  const failed = (error: unknown) => shell.say({ text: errorWords(error), problem: true });
  const { id, pinned } = session;
  const pin = () =>
    void api.patchSession(id, { pinned: !pinned }).then((changed) => {
      onChanged?.(changed);
      shell.reload();
    }, failed);
  const fork = () =>
    void api.forkSession(id).then((copy) => {
      goTo(copy.id);
      shell.say({ text: t("forked") });
    }, failed);
  const items: MenuItem[] = [
    { icon: "pen", label: t("rename"), act: () => shell.open({ type: "rename", session }) },
    { icon: "pin", label: t(pinned ? "unpin" : "pin"), act: pin },
    { icon: "fork", label: t("forkAll"), act: fork },
    { icon: "share", label: t("share"), act: () => shell.open({ type: "share", session }) },
    { icon: "down", label: t("export"), act: () => void download(session).catch(failed) },
    {
      icon: "gear",
      label: t("sessionSettings"),
      act: () => shell.open({ type: "settings", session }),
    },
    { icon: "trash", label: t("remove"), danger: true, act: () => shell.remove(session) },
  ];
  return (
    <Menu
      label={t("sessionMenu", { title: session.title || t("untitled") })}
      items={items}
      small={small}
    />
  );
}

/** Fetched rather than linked to, so that a refusal is said here and not saved as a file. */
async function download(session: SessionInfo): Promise<void> {
  const response = await api.exportSession(session.id);
  const name = (session.title || session.id).replace(/[^\p{L}\p{N} ._-]/gu, "_").slice(0, 80);
  save(await response.blob(), `${name}.jsonl`);
}
