/**
 * What a process uses, read from the kernel (Linux). Its CPU time is user and system time of all threads together, so
 * the garbage collector and the writing to sockets and disk count as well.
 */
import { readdirSync, readFileSync } from "node:fs";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Gone between the listing and the look.
    return "";
  }
}

/** Everything after the name in brackets, which may hold spaces. Field 3 of the manual page is the first here. */
const statOf = (pid: number): string[] => {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
};

/** Processes called `name` among the descendants of this one. */
export function descendants(name: string): number[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  const parents = new Map(pids.map((pid) => [Number(pid), Number(statOf(Number(pid))[1])]));
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === process.pid || isOurs(parent));
  };
  const nameOf = (pid: number) => read(`/proc/${pid}/comm`).trim();
  return [...parents.keys()].filter((pid) => isOurs(pid) && nameOf(pid) === name);
}

/** Milliseconds of one process: exact ones from the scheduler, or else its clock ticks of 10 ms. */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const exact = threads.map((tid) => read(`/proc/${pid}/task/${tid}/schedstat`).split(" ")[0]);
  const nanoseconds = exact.reduce((sum, ns) => sum + Number(ns || 0), 0);
  if (nanoseconds > 0) return nanoseconds / 1e6;
  const stat = statOf(pid);
  return (Number(stat[11]) + Number(stat[12])) * 10;
}

/** Resident bytes of one process; pages are of 4 KiB where this runs. */
export const rssBytes = (pid: number): number =>
  Number(read(`/proc/${pid}/statm`).split(" ")[1]) * 4096;
