/** Processor time and memory of this process and of all that it started, read from /proc (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux. */
const ticksOfSecond = 100;

/** A process of the family. */
export interface FamilyProcess {
  readonly pid: number;
  /** Its program: the name of a service, `reader` for one that reads documents, `nats`, `postgres`, or `bench`. */
  readonly part: string;
  /** Its own processor time and that of its children that ended. */
  readonly seconds: number;
}

/** This process and its descendants; none where there is no /proc. */
export function readFamily(): FamilyProcess[] {
  if (process.platform !== 'linux') return [];
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readTimes(pid));
  const family = new Set([process.pid]);
  // A child may have a lower number than its parent.
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  return processes
    .filter(({ pid }) => family.has(pid))
    .map(({ pid, seconds }) => ({ pid, seconds, part: pid === process.pid ? 'bench' : partOf(pid) }));
}

/** Processor time of the family; NaN where there is no /proc. */
export function familySeconds(): number {
  const family = readFamily();
  return family.length === 0 ? Number.NaN : family.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Memory of a process in bytes, shared pages divided among the processes that have them; 0 where it has ended. */
export function memoryOf(pid: number): number {
  const rollup = readIfThere(`/proc/${pid}/smaps_rollup`);
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
}

/** None where the process has ended meanwhile. */
function readTimes(pid: string): { pid: number; parent: number; seconds: number }[] {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === '') return [];
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // User and system time, of the process and of its children that ended.
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + (fields[index] ?? 0), 0);
  return [{ pid: Number(pid), parent: fields[1] ?? 0, seconds: ticks / ticksOfSecond }];
}

function partOf(pid: number): string {
  const command = readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  if (command.includes('reader.worker')) return 'reader';
  // The module that ends a service with its parent comes first.
  const program = [...command.matchAll(/dist\/([\w-]+)\.js/g)].at(-1)?.[1];
  if (program) return program;
  if (command.includes('nats-server')) return 'nats';
  return command.includes('postgres') ? 'postgres' : 'other';
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
