/** The one dialog that is open, if any. Large ones come when they are first opened; not the one that is typed into. */
import type { Config } from "../core/wire.ts";
import { Help } from "./help.tsx";
import { lazyPart, useLazy } from "./lazy.ts";
import { Palette } from "./palette.tsx";
import { Rename } from "./rename.tsx";
import type { DialogShown } from "./shell.ts";
import type { SessionList } from "./use-sessions.ts";

const settings = lazyPart(() => import("./settings/dialog.tsx"));
const share = lazyPart(() => import("./share/dialog.tsx"));

interface Props {
  shown: DialogShown | null;
  config: Config | null;
  list: SessionList;
  onShow(dialog: DialogShown | null): void;
}

export function Dialogs({ shown, config, list, onShow }: Props) {
  const close = () => onShow(null);
  const settingsPart = useLazy(settings, shown?.type === "settings");
  const sharePart = useLazy(share, shown?.type === "share");
  switch (shown?.type) {
    case "rename":
      return <Rename session={shown.session} onClose={close} />;
    case "help":
      return <Help onClose={close} />;
    case "share":
      return sharePart && <sharePart.ShareDialog session={shown.session} onClose={close} />;
    case "settings":
      return (
        settingsPart && (
          <settingsPart.SettingsDialog session={shown.session} config={config} onClose={close} />
        )
      );
    case "palette":
      return <Palette list={list} onShow={onShow} onClose={close} />;
    default:
      return null;
  }
}
