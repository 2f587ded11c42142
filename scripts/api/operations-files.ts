/** Files, and what a link shows. */
import * as z from "zod";
import { PageQuery } from "../../src/core/wire.ts";
import type { Operation } from "./operation.ts";

const files = "/api/sessions/{id}/files";
const shared = "/api/shared/{share}";
const BYTES = { what: "The bytes, as an attachment.", types: ["application/octet-stream"] };
const PART = { what: "The part that `Range` names.", types: ["application/octet-stream"] };
const Inline = z.object({
  inline: z.string().optional().describe("Raster images and plain text are shown in place."),
});
const range = { range: "One range of bytes." };

export const FILES: Operation[] = [
  {
    ...{ method: "get", path: files, id: "listFiles", tag: "files" },
    summary: "The files of the workspace",
    replies: { 200: { what: "All of them.", schema: "FileList" } },
    errors: [404],
  },
  {
    ...{ method: "get", path: `${files}/{path}`, id: "download", tag: "files" },
    summary: "Download a file",
    headers: range,
    query: Inline,
    replies: { 200: BYTES, 206: PART },
    errors: [404, 416],
  },
  {
    ...{ method: "put", path: `${files}/{path}`, id: "upload", tag: "files" },
    summary: "Upload a file",
    body: { type: "application/octet-stream", what: "At most 25 MiB." },
    replies: {
      201: { what: "It is new.", schema: "FileInfo" },
      200: { what: "It replaces another.", schema: "FileInfo" },
    },
    errors: [404, 409, 507],
  },
  {
    ...{ method: "delete", path: `${files}/{path}`, id: "deleteFile", tag: "files" },
    summary: "Delete a file",
    replies: { 204: { what: "It is gone." } },
    errors: [404],
  },
  {
    ...{ method: "post", path: "/api/sessions/{id}/share", id: "share", tag: "links" },
    summary: "A read-only link to the session as it is now",
    replies: { 201: { what: "The link.", schema: "Link" } },
    errors: [404, 409],
  },
  {
    ...{ method: "delete", path: "/api/sessions/{id}/share", id: "unshare", tag: "links" },
    summary: "Revoke all its links",
    replies: { 204: { what: "They are gone." } },
    errors: [404],
  },
  {
    ...{ method: "get", path: shared, id: "sharedSession", tag: "links", open: true },
    summary: "What a link shows",
    replies: { 200: { what: "The snapshot as of its freeze.", schema: "SharedSession" } },
    errors: [404],
  },
  {
    ...{ method: "get", path: `${shared}/events`, id: "sharedEvents", tag: "links", open: true },
    summary: "Events up to the freeze",
    query: PageQuery.unwrap(),
    replies: { 200: { what: "A page.", schema: "EventPage" } },
    errors: [404],
  },
  {
    ...{
      method: "get",
      path: `${shared}/files/{path}`,
      id: "sharedFile",
      tag: "links",
      open: true,
    },
    summary: "A file that the events name",
    headers: range,
    query: Inline,
    replies: { 200: BYTES, 206: PART },
    errors: [404, 416],
  },
];
