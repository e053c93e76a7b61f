import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Which files of a folder were sent, by name and version, so that a second run sends the others alone. */
export class IngestRecord {
  private constructor(
    private readonly path: string,
    private readonly versions: Record<string, string>,
  ) {}

  /** The record of what went from a folder to a collection of a server; it lies in the data directory. */
  static async open(dataDirectory: string, ...what: readonly string[]): Promise<IngestRecord> {
    const name = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
    const path = join(dataDirectory, 'ingests', `${name}.json`);
    const versions = existsSync(path)
      ? (JSON.parse(await readFile(path, 'utf8')) as Record<string, string>)
      : {};
    return new IngestRecord(path, versions);
  }

  has(name: string, version: string): boolean {
    return this.versions[name] === version;
  }

  /** Kept at once, so that a run that is broken off can be continued. */
  async add(files: readonly { name: string; version: string }[]): Promise<void> {
    for (const { name, version } of files) this.versions[name] = version;
    await mkdir(dirname(this.path), { recursive: true });
    const draft = `${this.path}.${process.pid}`;
    await writeFile(draft, JSON.stringify(this.versions));
    await rename(draft, this.path);
  }
}
