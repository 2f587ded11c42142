/** The built page with its own headers and nothing behind it, for tests that play the server themselves. */
import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

export interface PageServer {
  url: string;
  stop(): Promise<void>;
}

export async function servePage(): Promise<PageServer> {
  execFileSync(process.execPath, [join(root, "scripts/build-page.mjs")], { stdio: "pipe" });
  const folder = join(root, "public");
  const headersOf = parse(await readFile(join(folder, "_headers"), "utf8"));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    // As in wrangler.toml: an address that is no file is the page.
    const page = pathname === "/" || pathname.startsWith("/shared/");
    const file = join(folder, normalize(page ? "/index.html" : pathname));
    stat(file).then(
      () => {
        const type = TYPES[extname(file)] ?? "application/octet-stream";
        response.writeHead(200, { ...headersOf(pathname), "content-type": type });
        createReadStream(file).pipe(response);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** The blocks of `_headers`: an address, `/*` or `/folder/*`, and below it, indented, `Name: value`. */
function parse(text: string): (pathname: string) => Record<string, string> {
  const blocks: { prefix: string; headers: [string, string][] }[] = [];
  for (const line of text.split("\n")) {
    const [, name, value] = /^\s+([\w-]+):\s*(.+)$/.exec(line) ?? [];
    if (name && value) blocks.at(-1)?.headers.push([name, value]);
    else if (line.startsWith("/")) blocks.push({ prefix: line.replace("*", ""), headers: [] });
  }
  return (pathname) =>
    Object.fromEntries(
      blocks.filter((b) => pathname.startsWith(b.prefix)).flatMap((b) => b.headers),
    );
}
