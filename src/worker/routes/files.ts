/** Files over HTTP: bytes in and out, never executed, never shown as a page. */
import { type Context, Hono } from "hono";
import { LIMITS } from "../../core/limits.ts";
import type { App } from "../auth.ts";
import type { ByteRange, Download } from "../files.ts";
import { sessionStub } from "../ids.ts";
import { problem, unwrap } from "../problem.ts";
import { readBytes } from "../validate.ts";

export const fileRoutes = new Hono<App>();

fileRoutes.get("/:id/files", async (c) =>
  c.json(unwrap(await sessionStub(c.env, c.req.param("id")).listFiles(c.var.owner))),
);

/** The part of the address behind /files/, decoded exactly once. Names under /workspace, never absolute. */
export function pathOf(c: Context<App>): string {
  const { pathname } = new URL(c.req.url);
  const raw = pathname.slice(pathname.indexOf("/files/") + "/files/".length);
  try {
    return `/workspace/${decodeURIComponent(raw)}`;
  } catch {
    throw problem(400, "invalid_path", "The path is not valid percent-encoding.");
  }
}

export function rangeOf(c: Context<App>): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(c.req.header("range") ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  return {
    ...(match[1] ? { start: Number(match[1]) } : {}),
    ...(match[2] ? { end: Number(match[2]) } : {}),
  };
}

/** Types that a browser may show in place; anything else is only ever saved. */
const INLINE = /^(image\/(png|jpeg|gif|webp|avif|bmp)|text\/plain)(;|$)/;

/** RFC 6266: an ASCII name for everyone, the real one encoded. */
function disposition(name: string, inline: boolean): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `${inline ? "inline" : "attachment"}; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

function downloadHeaders({ info, part, bytes }: Download, inline: boolean): Record<string, string> {
  return {
    "content-type": info.content_type,
    "content-length": String(bytes.byteLength),
    "content-disposition": disposition(info.name, inline && INLINE.test(info.content_type)),
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "last-modified": new Date(info.modified_at).toUTCString(),
    ...(part ? { "content-range": `bytes ${part.start}-${part.end}/${info.size}` } : {}),
  };
}

export function download(c: Context<App>, file: Download): Response {
  const inline = c.req.query("inline") !== undefined;
  return new Response(file.bytes as Uint8Array<ArrayBuffer>, {
    status: file.part ? 206 : 200,
    headers: downloadHeaders(file, inline),
  });
}

fileRoutes.get("/:id/files/*", async (c) => {
  const stub = sessionStub(c.env, c.req.param("id"));
  return download(c, unwrap(await stub.readFile(c.var.owner, pathOf(c), rangeOf(c))));
});

fileRoutes.put("/:id/files/*", async (c) => {
  const stub = sessionStub(c.env, c.req.param("id"));
  const path = pathOf(c);
  const bytes = await readBytes(c.req.raw, LIMITS.fileBytes);
  const { info, created } = unwrap(await stub.writeFile(c.var.owner, path, bytes));
  return c.json(info, created ? 201 : 200);
});

fileRoutes.delete("/:id/files/*", async (c) => {
  const stub = sessionStub(c.env, c.req.param("id"));
  unwrap(await stub.removeFile(c.var.owner, pathOf(c)));
  return c.body(null, 204);
});
