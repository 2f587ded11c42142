/** An image in a text: shown when it is a file of the session, else a link, so that nobody learns who reads what. */
import { useContext, useState } from "preact/hooks";
import { safeUrl } from "../blocks.ts";
import { FilesAt } from "../files/files-at.ts";
import { Icon } from "../icons.tsx";
import { t } from "../strings.ts";
import { Link } from "../text.tsx";

/** A small raster that stands in the text itself. */
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

export function Picture({ address, alt }: { address: string; alt: string }) {
  const files = useContext(FilesAt);
  const [broken, setBroken] = useState(false);
  const remote = safeUrl(address);
  if (remote) {
    const host = new URL(remote).host;
    return (
      <Link href={remote}>
        <Icon name="image" /> {t("remoteImage", { what: alt || host, host })}
      </Link>
    );
  }
  const source = EMBEDDED.test(address) ? address : inSession(address, files);
  if (!source || broken) return <>{alt || address}</>;
  return <img class="picture" src={source} alt={alt} onError={() => setBroken(true)} />;
}

/** A relative path, or one under /workspace, and nothing else. */
function inSession(address: string, files: FilesAt): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(address) || /^[/\\]{2}/.test(address)) return null;
  const path = address.replace(/^\/workspace\//, "").replace(/^\.\//, "");
  if (path === "" || path.startsWith("/") || path.includes("..")) return null;
  return files.url(path, { inline: true });
}
