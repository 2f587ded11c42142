/** An OTLP trace request in JSON, read strictly: unknown fields, wrong ids and wrong numbers are errors. */
import * as z from "zod";

/** In the JSON mapping ids are hexadecimal, not base64, and 64-bit numbers are decimal texts. */
const Id = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))
    .refine((id) => !/^0+$/.test(id), "an id of zeros is none");
const Int64 = z.string().regex(/^-?(0|[1-9]\d{0,18})$/);
const Nanos = z.string().regex(/^[1-9]\d{17,18}$/);
const Scalar = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: Int64 }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const Value = z.union([
  Scalar,
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(Scalar) }) }),
]);
const Attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: Value }))
  .refine((all) => new Set(all.map((a) => a.key)).size === all.length, "a key stands twice");
const Span = z.strictObject({
  traceId: Id(16),
  spanId: Id(8),
  parentSpanId: Id(8).optional(),
  name: z.string().min(1),
  /** internal, server, client, producer, consumer */
  kind: z.int().min(1).max(5),
  startTimeUnixNano: Nanos,
  endTimeUnixNano: Nanos,
  attributes: Attributes,
  /** unset, ok, error */
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
});
const Request = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes: Attributes }),
        scopeSpans: z.array(
          z.strictObject({
            scope: z.strictObject({ name: z.string().min(1), version: z.string() }),
            spans: z.array(Span).min(1),
          }),
        ),
      }),
    )
    .min(1),
});

export interface Heard {
  trace: string;
  id: string;
  parent: string | null;
  name: string;
  kind: number;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  error: boolean;
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

function plain(value: z.infer<typeof Value>): unknown {
  if ("arrayValue" in value) return value.arrayValue.values.map(plain);
  if ("intValue" in value) return Number(value.intValue);
  return Object.values(value)[0];
}
const record = (attributes: z.infer<typeof Attributes>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));

/** Throws when it is no such request. */
export function decode(body: string): Heard[] {
  const { resourceSpans } = Request.parse(JSON.parse(body));
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => {
        const [from, to] = [span.startTimeUnixNano, span.endTimeUnixNano].map((nanos) =>
          Number(nanos.slice(0, -6)),
        );
        if ((from ?? 0) > (to ?? 0)) throw new Error(`${span.name} ends before it begins`);
        return {
          trace: span.traceId,
          id: span.spanId,
          parent: span.parentSpanId ?? null,
          name: span.name,
          kind: span.kind,
          from: from ?? 0,
          to: to ?? 0,
          error: span.status.code === 2,
          attributes: record(span.attributes),
          resource: record(resource.attributes),
        };
      }),
  );
}
