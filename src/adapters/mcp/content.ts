/**
 * What a tool of an MCP server answered, as a result: text for the model, the same for people, bytes as files.
 *
 * C1  What a server calls an error is a failure with a known outcome.
 * C2  Pictures, sounds and other bytes become files of the workspace; where that fails they are named all the same.
 */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { headAndTail } from "../../core/chars.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ToolResult } from "../../core/tool.ts";
import type { ToolContext } from "../../tools/define.ts";

type Part = CallToolResult["content"][number];

const EXTENSIONS: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/csv": "csv",
};

/** The library has looked at it: it is base64. */
const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

async function saved(base64: string, type: string, n: number, ctx: ToolContext): Promise<string> {
  const bytes = bytesOf(base64);
  const path = `/workspace/mcp/${ctx.id}-${n}.${EXTENSIONS[type] ?? "bin"}`;
  const what = `${type}, ${bytes.byteLength} bytes`;
  try {
    const written = await ctx.box.write(path, bytes);
    return written.ok
      ? `[${what}, saved as ${path}]`
      : `[${what}, could not be saved: ${written.error}]`;
  } catch {
    return `[${what}, could not be saved: the sandbox is not there]`;
  }
}

async function told(part: Part, n: number, ctx: ToolContext): Promise<string> {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return saved(part.data, part.mimeType, n, ctx);
    case "resource_link":
      return `[${part.name}: ${part.uri}]${part.description ? ` ${part.description}` : ""}`;
    case "resource": {
      const { resource } = part;
      if ("text" in resource) return `${resource.uri}\n${resource.text}`;
      const type = resource.mimeType ?? "application/octet-stream";
      return `${resource.uri} ${await saved(resource.blob, type, n, ctx)}`;
    }
    default:
      return `[content of a kind that is not known here: ${String((part as { type: unknown }).type)}]`;
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Servers repeat structured content as text; only what the text does not say is added. */
function structured({ structuredContent }: CallToolResult, texts: string[]): string[] {
  if (structuredContent === undefined) return [];
  const json = JSON.stringify(structuredContent);
  return texts.some((text) => JSON.stringify(parsed(text)) === json) ? [] : [json];
}

export async function resultOf(
  answer: CallToolResult,
  redact: (text: string) => string,
  ctx: ToolContext,
): Promise<ToolResult> {
  const texts: string[] = [];
  for (const [i, part] of answer.content.entries()) texts.push(await told(part, i + 1, ctx));
  const whole = [...texts, ...structured(answer, texts)].join("\n");
  const ok = answer.isError !== true;
  const text = redact(whole) || (ok ? "(no content)" : "It failed without a reason.");
  return { ok, text, content: { result: headAndTail(text, LIMITS.eventOutputChars) } };
}
