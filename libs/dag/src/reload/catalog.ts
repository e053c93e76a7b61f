import { compileMegaService } from '../definition/compile.js';
import { readMegaServiceSource } from '../definition/parse.js';
import type { MegaServiceSource } from '../definition/schema.js';
import type { ServiceRegistry } from '../definition/service-kind.js';
import type { MegaServiceDefinition } from '../definition/types.js';

/** A YAML file as it was read, or why it could not be. */
export interface MegaServiceFile {
  /** Name within the directory. */
  file: string;
  text: string | Error;
}

/** The mega services of a directory at one moment; never changed, only replaced. */
export interface MegaServiceCatalog {
  /** By name. */
  readonly definitions: ReadonlyMap<string, MegaServiceDefinition>;
  /** Why a file is not in force, by file. Where it was valid before, that version still serves. */
  readonly errors: ReadonlyMap<string, Error>;
}

/**
 * Compiles all files together, since mega services may name each other. A file that is not valid keeps the version
 * it had in `previous`; all others take effect.
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
  /** Names being compiled, outermost first: a repeated one is a mega service that contains itself. */
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

  /** The mega service of a name, compiled when it is first asked for; undefined where there is none. */
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
    if (!definition && this.entries.has(name)) throw new Error(`mega service "${name}" is not valid itself`);
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
