import { DurableObject } from "cloudflare:workers";
export class SessionObject extends DurableObject {}
export class DirectoryObject extends DurableObject {}
export default { fetch: () => new Response("ok") };
