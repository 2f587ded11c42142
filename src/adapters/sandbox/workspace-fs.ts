/**
 * /workspace as the embedded shell sees it: its file system interface over the session's file store.
 *
 * V1  Paths come relative to the mount ("/a/b") and leave as "/workspace/a/b"; they cannot climb out.
 * V2  Errors are thrown as the shell expects them: "CODE: text", with the code as a field.
 * V3  No links: a name is one file. `ln` copies, `ln -s` is refused.
 * V4  Writing makes the folders on the way: an error thrown while output is redirected would end the whole script.
 */
import { Buffer } from "node:buffer";
import type {
  CpOptions,
  FileContent,
  FsStat,
  IFileSystem,
  MkdirOptions,
  RmOptions,
} from "just-bash/browser";
import { ancestors, ROOT, resolvePath, within } from "../../tools/paths.ts";
import type { Changed, FileStore, WriteResult } from "../files/store.ts";
import { contentBytes } from "./terminal-fs.ts";

type ByteString = Awaited<ReturnType<NonNullable<IFileSystem["readFileBytes"]>>>;

class FsError extends Error {
  readonly code: string;
  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`);
    this.code = code;
  }
}
const MISSING = "no such file or directory";
const dirent = (name: string, isFile: boolean) => ({
  name,
  isFile,
  isDirectory: !isFile,
  isSymbolicLink: false,
});

function demand(result: WriteResult | Changed): void {
  if (!result.ok) throw new FsError(result.code, result.error);
}

export class WorkspaceFs implements IFileSystem {
  readonly #files: FileStore;
  constructor(files: FileStore) {
    this.#files = files;
  }

  async readFile(path: string, options?: unknown): Promise<string> {
    const bytes = await this.readFileBuffer(path);
    const name =
      typeof options === "object" && options ? Reflect.get(options, "encoding") : options;
    if (name === "binary" || name === "latin1") return byteString(bytes);
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
  }

  /** One character per byte. The shell takes it where it is offered; its own way costs thirty times the memory. */
  async readFileBytes(path: string): Promise<ByteString> {
    return byteString(await this.readFileBuffer(path)) as unknown as ByteString;
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const bytes = this.#files.read(absolute(path));
    if (bytes) return bytes;
    if (this.#files.stat(absolute(path))) {
      throw new FsError("EISDIR", `illegal operation on a directory, read '${ROOT}${path}'`);
    }
    throw new FsError("ENOENT", `${MISSING}, open '${ROOT}${path}'`);
  }

  async writeFile(path: string, content: FileContent, options?: unknown): Promise<void> {
    demand(this.#files.write(absolute(path), contentBytes(content, options)));
  }

  async appendFile(path: string, content: FileContent, options?: unknown): Promise<void> {
    demand(this.#files.append(absolute(path), contentBytes(content, options)));
  }

  async exists(path: string): Promise<boolean> {
    const result = resolvePath(`${ROOT}/${path}`);
    return result.ok && this.#files.stat(result.path) !== null;
  }

  async stat(path: string): Promise<FsStat> {
    const node = this.#node(path);
    return {
      isFile: node.kind === "file",
      isDirectory: node.kind === "folder",
      isSymbolicLink: false,
      mode: node.mode,
      size: node.size,
      mtime: new Date(node.modified),
      identity: node.path,
    };
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    const target = absolute(path);
    const node = this.#files.stat(target);
    if (node && !(options?.recursive && node.kind === "folder")) {
      throw new FsError("EEXIST", `file already exists, mkdir '${ROOT}${path}'`);
    }
    if (!options?.recursive) this.#demandParent(path);
    demand(this.#files.mkdir(target));
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map((entry) => entry.name);
  }

  async readdirWithFileTypes(path: string) {
    if (this.#node(path).kind === "file") {
      throw new FsError("ENOTDIR", `not a directory, scandir '${ROOT}${path}'`);
    }
    const children = this.#files.children(absolute(path));
    return children.map(({ name, kind }) => dirent(name, kind === "file"));
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    const target = absolute(path);
    const node = this.#files.stat(target);
    if (!node && options?.force) return;
    if (this.#node(path).kind === "folder" && !options?.recursive) {
      if (this.#files.children(target).length > 0) {
        throw new FsError("ENOTEMPTY", `directory not empty, rm '${ROOT}${path}'`);
      }
    }
    this.#files.remove(target);
    this.#keepParent(target);
  }

  async cp(src: string, dest: string, options?: CpOptions): Promise<void> {
    const [from, to] = [absolute(src), absolute(dest)];
    if (this.#node(src).kind === "file") {
      this.#demandParent(dest);
      demand(this.#files.write(to, this.#files.read(from) ?? new Uint8Array()));
      return;
    }
    if (!options?.recursive) throw new FsError("EISDIR", `is a directory, cp '${ROOT}${src}'`);
    if (within(to, from)) throw new FsError("EINVAL", `cannot copy '${ROOT}${src}' into itself`);
    demand(this.#files.mkdir(to));
    for (const { name } of this.#files.children(from)) {
      await this.cp(`${src}/${name}`, `${dest}/${name}`, options);
    }
  }

  async mv(src: string, dest: string): Promise<void> {
    this.#node(src);
    this.#demandParent(dest);
    demand(this.#files.rename(absolute(src), absolute(dest)));
    this.#keepParent(absolute(src));
  }

  resolvePath(base: string, path: string): string {
    const parts: string[] = [];
    for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  getAllPaths(): string[] {
    const paths = new Set<string>();
    for (const { path } of this.#files.list()) {
      for (const part of [...ancestors(path), path]) paths.add(part.slice(ROOT.length));
    }
    return [...paths];
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#node(path);
    demand(this.#files.touch(absolute(path), { mode: mode & 0o777 }));
  }

  async symlink(): Promise<void> {
    throw new FsError("EPERM", "symbolic links are not supported in /workspace; copy the file");
  }

  async link(existingPath: string, newPath: string): Promise<void> {
    if (await this.exists(newPath))
      throw new FsError("EEXIST", `file already exists, '${ROOT}${newPath}'`);
    await this.cp(existingPath, newPath);
  }

  async readlink(path: string): Promise<string> {
    throw new FsError("EINVAL", `not a symbolic link, readlink '${ROOT}${path}'`);
  }

  async realpath(path: string): Promise<string> {
    this.#node(path);
    return this.resolvePath("/", path);
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    this.#node(path);
    demand(this.#files.touch(absolute(path), { modified: mtime.getTime() }));
  }

  #node(path: string) {
    const node = this.#files.stat(absolute(path));
    if (!node) throw new FsError("ENOENT", `${MISSING}, '${ROOT}${path}'`);
    return node;
  }

  /** `mkdir`, `cp` and `mv` do not make folders on the way; the store would. */
  #demandParent(path: string): void {
    const parent = parentOf(absolute(path));
    if (!this.#files.stat(parent)) throw new FsError("ENOENT", `${MISSING}, '${ROOT}${path}'`);
  }

  /** A folder that only existed through what was below it must not vanish when its last file goes. */
  #keepParent(path: string): void {
    const parent = parentOf(path);
    if (!this.#files.stat(parent)) this.#files.mkdir(parent);
  }
}

const byteString = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");

const parentOf = (path: string): string =>
  path.slice(0, Math.max(path.lastIndexOf("/"), ROOT.length));

function absolute(path: string): string {
  const result = resolvePath(`${ROOT}/${path}`);
  if (!result.ok) throw new FsError("EINVAL", `${result.error} '${ROOT}${path}'`);
  return result.path;
}
