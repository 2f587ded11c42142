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
  const headers = parse(await readFile(join(folder, "_headers"), "utf8"));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    // As in wrangler.toml: an address that is no file is the page.
    const page = pathname === "/" || pathname.startsWith("/shared/");
    const file = join(folder, normalize(page ? "/index.html" : pathname));
    stat(file).then(
      () => {
        const type = TYPES[extname(file)] ?? "application/octet-stream";
        response.writeHead(200, { ...headers, "content-type": type });
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

/** The one block of `_headers`: what stands indented, `Name: value`. */
function parse(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => /^\s+\S/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
