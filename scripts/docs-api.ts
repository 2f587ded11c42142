/** Writes docs/openapi.json and docs/frames.schema.json: `npm run docs:api`. A test says when they are stale. */
import { writeFile } from "node:fs/promises";
import { framesSchema, openapi, written } from "./api/document.ts";

const docs = new URL("../docs/", import.meta.url);
await writeFile(new URL("openapi.json", docs), written(openapi()));
await writeFile(new URL("frames.schema.json", docs), written(framesSchema()));
