/**
 * The faulty server: OpenAI's API on 127.0.0.1, one port for any number of runs, each under a path of its own. It
 * plays its task rightly unless a fault strikes, and refuses any history that a strict provider would refuse.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkHistory } from "../support/history-oracle.ts";
import { pause, readBody } from "../support/mock-http.ts";
import type { Answer, Format, Kind } from "./kind.ts";
import { type Body, rightReply, type Task } from "./model.ts";
import { completionOf, type Manner, type Spoken, streamOf } from "./spoken.ts";

/** A kind that strikes from the `at`th request on. */
export interface Fault {
  kind: Kind;
  at: number;
}

export interface Desk {
  task: Task;
  format: Format;
  faults: Fault[];
  requests: number;
  /** Requests that a fault has met. */
  met: number;
  violations: string[];
  /** Told when a request comes in. */
  heard: () => void;
}

export class FaultyServer {
  readonly url: string;
  private readonly server: Server;
  private readonly desks = new Map<string, Desk & { memos: Map<Fault, Record<string, number>> }>();
  private next = 0;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<FaultyServer> {
    let self: FaultyServer | null = null;
    const server = createServer((req, res) => {
      self?.handle(req, res).catch(() => res.destroy());
    });
    server.keepAliveTimeout = 120_000;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    self = new FaultyServer(server);
    return self;
  }

  /** A new run; its base URL and its books. */
  open(task: Task, format: Format, faults: Fault[]): { url: string; desk: Desk } {
    const id = `r${++this.next}`;
    const desk: Desk = {
      task,
      format,
      faults,
      requests: 0,
      met: 0,
      violations: [],
      heard: () => {},
    };
    this.desks.set(id, Object.assign(desk, { memos: new Map() }));
    return { url: `${this.url}/${id}/v1`, desk };
  }
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.on("error", () => {});
    const raw = await readBody(req);
    const desk = this.desks.get((req.url ?? "").split("/")[1] ?? "");
    if (!desk) return void res.writeHead(404).end();
    const body = JSON.parse(raw) as Body;
    desk.requests += 1;
    desk.heard();
    const n = desk.requests;
    const wrong = checkHistory(body);
    if (wrong.length > 0) {
      desk.violations.push(...wrong.map((w) => `request ${n}: ${w}`));
      return send(
        { type: "http", status: 400, body: errorBody(wrong.join("; ")) },
        res,
        desk.format,
      );
    }
    const right = rightReply(body, desk.task);
    right.calls.forEach((c, i) => {
      c.id = `call_${n}_${i}`;
    });
    if (desk.faults.some((f) => f.kind.thinks)) right.thinking = "Ich überlege 🤔 kurz.";
    await send(this.answer(desk, n, raw, body, right), res, desk.format);
  }

  private answer(
    desk: Desk & { memos: Map<Fault, Record<string, number>> },
    n: number,
    raw: string,
    body: Body,
    right: Spoken,
  ): Answer {
    for (const fault of desk.faults) {
      const { strike, times } = fault.kind;
      const nth = n - fault.at;
      if (!strike || nth < 0 || nth >= (times ?? 1)) continue;
      const memo = desk.memos.get(fault) ?? {};
      desk.memos.set(fault, memo);
      const answer = strike({ body, raw, right, nth, format: desk.format, memo });
      if (!answer) continue;
      desk.met += 1;
      return answer;
    }
    return { type: "say", spoken: right };
  }
}

export const errorBody = (message: string, type = "invalid_request_error", code = ""): string =>
  JSON.stringify({ error: { message, type, param: null, code: code || null } });

/** A reply as bytes in the format of the run. */
export const bytesOf = (spoken: Spoken, format: Format, manner?: Manner): string[] =>
  format === "json" ? [completionOf(spoken)] : streamOf(spoken, manner);

async function send(answer: Answer, res: ServerResponse, format: Format): Promise<void> {
  switch (answer.type) {
    case "say":
      res.writeHead(200, {
        "content-type": format === "json" ? "application/json" : "text/event-stream",
      });
      return void res.end(bytesOf(answer.spoken, format, answer.manner).join(""));
    case "http":
      res.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
      return void res.end(answer.body);
    case "drop":
      return void res.socket?.resetAndDestroy();
    case "hang":
      return;
    case "bytes": {
      res.writeHead(200, { "content-type": answer.contentType ?? "text/event-stream" });
      res.flushHeaders();
      for (const part of answer.parts) {
        if (res.destroyed) return;
        res.write(part);
        if (answer.gapMs !== undefined) await pause(answer.gapMs, res);
      }
      if (answer.end === "end") return void res.end();
      if (answer.end === "hang") return;
      // The bytes first: only then is it a stream that breaks, and not a refused connection.
      await pause(15, res);
      res.socket?.resetAndDestroy();
    }
  }
}
