/**
 * A trace collector for tests: it takes what OTLP/HTTP says a request in JSON may be, and nothing else. Its schema is
 * written from the protocol (opentelemetry-proto's trace service in its JSON mapping), not from the product's code:
 * the judge does not judge itself.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { decode, type Heard } from "./otlp-decode.ts";

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Never answers. */
  hang?: true;
}
export interface Collector {
  url: string;
  spans: Heard[];
  /** Requests that are no OTLP. */
  faults: string[];
  requests: { path: string; headers: IncomingMessage["headers"] }[];
  /** What is answered, one after the other; 200 when there is nothing left. */
  answers: Answer[];
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

export async function startCollector(): Promise<Collector> {
  const held: Omit<Collector, "url" | "close"> = {
    spans: [],
    faults: [],
    requests: [],
    answers: [],
  };
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      held.requests.push({ path: request.url ?? "", headers: request.headers });
      const { status = 200, headers, body: text = "{}", hang } = held.answers.shift() ?? {};
      if (hang) return;
      if (status === 200) {
        const type = request.headers["content-type"];
        if (type !== "application/json") held.faults.push(`content-type ${type}`);
        try {
          held.spans.push(...decode(body));
        } catch (error) {
          held.faults.push(String(error));
        }
      }
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(held, {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}
