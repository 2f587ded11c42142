/**
 * Which addresses may be asked on behalf of a model or a person: the public web, and nothing else. Pure: no look-up.
 *
 * G1  Only http and https, without a name or password in the address, on a port where a web server may listen.
 * G2  Only public unicast addresses. The URL parser has already read every spelling of an address (decimal, octal,
 *     hexadecimal, short, percent-encoded, full-width), so one form is left to judge.
 * G3  No names that stand for this machine or its own network, and none of the product itself.
 * G4  A refusal is a sentence for whoever wrote the address; nothing throws.
 *
 * A name is not looked up: one that anybody can register may point to a private address (see docs/web.md).
 */
import ip from "ipaddr.js";

export interface AddressRules {
  /** Hosts that may be asked although they are private, as they stand in a URL: `127.0.0.1:9000`, or any port without. */
  allow?: readonly string[];
  /** Where the product itself is served, host and port. */
  own?: readonly string[];
}

/** What the Fetch standard blocks above 1023, and daemons that take commands from whoever connects. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668],
  ...[6669, 6679, 6697, 10080],
  ...[2375, 2376, 2379, 3306, 5432, 5984, 6379, 9200, 11211, 27017],
]);
/** Reserved for networks of one's own, or known to answer with the address that stands in the name. */
const PRIVATE_NAMES = [
  ...["localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp"],
  ...["private", "home.arpa", "test", "invalid", "onion", "alt"],
  ...["nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me"],
];
/** Public by its number, but answered by the machine's own host: Azure's wire server. */
const METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);
const globalV6 = () => ip.IPv6.parseCIDR("2000::/3");

const PRIVATE = "is not an address of the public web; only those may be asked.";

/** null: it may be asked. */
export function refusalOf(url: string | URL, rules: AddressRules = {}): string | null {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (!parsed)
    return "This is not a valid address. Give a whole one, like https://example.com/page.";
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    return `${parsed.protocol} addresses are not asked; only http and https are.`;
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return "An address with a name or password in it is not asked.";
  }
  const host = bare(parsed.hostname);
  const port = Number(parsed.port || (parsed.protocol === "http:" ? 80 : 443));
  if (names(rules.own, host, port)) return `${parsed.host} is where this very product is served.`;
  if (names(rules.allow, host, port)) return null;
  if ((port < 1024 && port !== 80 && port !== 443) || BAD_PORTS.has(port)) {
    return `Port ${port} is not one where a web server is asked.`;
  }
  return isPublic(host) ? null : `${parsed.hostname} ${PRIVATE}`;
}

/** One spelling of a host: a final dot means the same name. */
const bare = (hostname: string): string => hostname.toLowerCase().replace(/\.+$/, "");

function names(hosts: readonly string[] = [], host: string, port: number): boolean {
  return hosts.some((entry) => {
    const listed = entry.trim() === "" ? null : URL.parse(`http://${entry.trim()}`);
    if (!listed || bare(listed.hostname) !== host) return false;
    // The parser drops the port 80 of an http address.
    const any = listed.port === "" && !/:80$/.test(entry.trim());
    return any || Number(listed.port || 80) === port;
  });
}

function isPublic(host: string): boolean {
  if (host.startsWith("[")) return isPublicV6(host.slice(1, -1));
  if (ip.IPv4.isValidFourPartDecimal(host)) {
    return ip.IPv4.parse(host).range() === "unicast" && !METADATA.has(host);
  }
  const labels = host.split(".");
  // One label is a name of the local network; a number at the end is an address that the parser did not read.
  if (labels.length < 2 || labels.includes("") || /^\d+$/.test(labels.at(-1) ?? "")) return false;
  return !PRIVATE_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}

/** Public v6 is 2000::/3; all that embeds a v4 address (mapped, NAT64, 6to4, Teredo) is a range of its own. */
function isPublicV6(text: string): boolean {
  if (!ip.IPv6.isValid(text)) return false;
  const address = ip.IPv6.parse(text);
  return address.range() === "unicast" && address.match(globalV6());
}
