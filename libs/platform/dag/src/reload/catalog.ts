import { compileMegaService, readMegaServiceSource } from '../definition/parse.js';
import type { MegaServiceSource } from '../definition/source.js';
import type { ServiceRegistry, MegaServiceDefinition } from '../definition/types.js';

/** A YAML file's content, or the error of reading it. */
export interface MegaServiceFile {
  /** Name in the directory. */
  file: string;
  text: string | Error;
}

/** An immutable snapshot of the mega services of a directory. */
export interface MegaServiceCatalog {
  /** By name. */
  readonly definitions: ReadonlyMap<string, MegaServiceDefinition>;
  /** Errors by file. If an earlier version was valid, it stays in use. */
  readonly errors: ReadonlyMap<string, Error>;
}

/**
 * Compiles all files together, because mega services may use each other. An invalid file keeps its version in
 * `previous`; all others take effect.
 */
export function buildCatalog(
  files: readonly MegaServiceFile[],
  registry: ServiceRegistry,
  previous?: MegaServiceCatalog,
): MegaServiceCatalog {
  return new CatalogBuilder(registry, previous).build(files);
}

interface Entry {
  file: string;
  source: MegaServiceSource;
}

class CatalogBuilder {
  private readonly entries = new Map<string, Entry>();
  private readonly definitions = new Map<string, MegaServiceDefinition>();
  private readonly errors = new Map<string, Error>();
  /** Names in compilation, outermost first; a repeated name is a cycle. */
  private readonly path: string[] = [];

  constructor(
    private readonly registry: ServiceRegistry,
    private readonly previous?: MegaServiceCatalog,
  ) {}

  build(files: readonly MegaServiceFile[]): MegaServiceCatalog {
    for (const file of files) this.attempt(file.file, () => this.read(file));
    for (const { file } of files) if (this.errors.has(file)) this.keepPrevious(file);
    for (const name of this.entries.keys()) this.find(name);
    return { definitions: this.definitions, errors: this.errors };
  }

  private attempt<Result>(file: string, action: () => Result): Result | undefined {
    try {
      return action();
    } catch (error) {
      this.errors.set(file, error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  private read({ file, text }: MegaServiceFile): void {
    if (text instanceof Error) throw text;
    const source = readMegaServiceSource(text, file);
    for (const other of this.entries.values()) refuseTwins(source, file, other);
    this.entries.set(source.name, { file, source });
  }

  /** Returns a mega service by name, compiled on first use; undefined if it does not exist. */
  private find(name: string): MegaServiceDefinition | undefined {
    const known = this.definitions.get(name);
    const entry = this.entries.get(name);
    if (known || !entry || this.errors.has(entry.file)) return known;
    return this.attempt(entry.file, () => this.compile(name, entry)) ?? this.keepPrevious(entry.file);
  }

  private compile(name: string, { file, source }: Entry): MegaServiceDefinition {
    this.path.push(name);
    try {
      const megaService = (inner: string) => this.findInner(inner);
      const definition = compileMegaService(source, file, { registry: this.registry, megaService });
      this.definitions.set(name, definition);
      return definition;
    } finally {
      this.path.pop();
    }
  }

  private findInner(name: string): MegaServiceDefinition | undefined {
    if (this.path.includes(name)) {
      const cycle = [...this.path.slice(this.path.indexOf(name)), name];
      throw new Error(`mega services contain each other: ${cycle.join(' → ')}`);
    }
    const definition = this.find(name);
    if (!definition && this.entries.has(name)) throw new Error(`mega service "${name}" is not valid`);
    return definition;
  }

  private keepPrevious(file: string): MegaServiceDefinition | undefined {
    const earlier = [...(this.previous?.definitions.values() ?? [])].find((known) => known.file === file);
    if (!earlier || this.definitions.has(earlier.name)) return undefined;
    const taken = this.entries.get(earlier.name);
    if (taken && taken.file !== file) return undefined;
    this.definitions.set(earlier.name, earlier);
    return earlier;
  }
}

function refuseTwins(source: MegaServiceSource, file: string, other: Entry): void {
  const { name, path } = source;
  if (other.source.name === name) throw new Error(`${file}: name: "${name}" is taken by ${other.file}`);
  if (path === undefined || other.source.path !== path) return;
  throw new Error(`${file}: path: "${path}" is taken by ${other.file}`);
}
