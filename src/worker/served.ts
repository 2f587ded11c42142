/** Where the product is served, as whoever asks has written it. */
import type { Context } from "hono";

/** With its port, where it has one. */
export const hostOf = (c: Context): string => c.req.header("host") ?? new URL(c.req.url).host;

/** Without its port. */
export const nameOf = (host: string): string =>
  host.startsWith("[") ? host.slice(0, host.indexOf("]") + 1) : (host.split(":")[0] ?? "");

export const onLoopback = (host: string): boolean => isLoopback(nameOf(host));

export const isLoopback = (name: string): boolean =>
  name === "localhost" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
