import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { MegaNestError } from '#platform/contracts';
import {
  lacksService,
  MegaServiceDefinitionError,
  parseMegaService,
  watchMegaServices,
  type DefinitionProblem,
  type MegaServiceDefinition,
  type MegaServiceWatcher,
} from '#platform/dag';
import { projectRoot } from '#platform/foundation';
import { EnvironmentError } from '#platform/service-kit';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { GatewayEnvironment } from '../config/gateway.environment.js';
import type { AnnouncedServices } from './nodes/announced-services.js';

/** The mega services of `MEGASERVICES_DIR`, by name and by path. Reloads changed files. */
export class MegaServiceCatalog implements OnApplicationShutdown {
  readonly #listeners = new Set<() => void>();

  private constructor(
    private readonly watcher: MegaServiceWatcher,
    private readonly defaultName: string,
    private readonly directory: string,
    private readonly announced: AnnouncedServices,
  ) {
    process.on('SIGHUP', this.#reload);
  }

  /**
   * Reads the files. A file may name a service that has not announced itself yet. Its mega service is served as soon as
   * the service announces itself. A file that is not valid never stops the start: the log and the health name it.
   * Errors: EnvironmentError if all files are valid, and none defines DEFAULT_MEGASERVICE.
   */
  static async open(
    environment: GatewayEnvironment,
    announced: AnnouncedServices,
  ): Promise<MegaServiceCatalog> {
    await announced.look();
    const directory = resolve(projectRoot, environment.MEGASERVICES_DIR);
    let changed: (() => void) | undefined;
    const watcher = await watchMegaServices({
      directory,
      registry: announced.registry,
      onChange: (current) => {
        reportErrors(current);
        changed?.();
      },
    });
    const catalog = new MegaServiceCatalog(watcher, environment.DEFAULT_MEGASERVICE, directory, announced);
    const { errors } = watcher.current();
    if (!catalog.hasDefault() && errors.size === 0) {
      watcher.close();
      throw new EnvironmentError(
        `DEFAULT_MEGASERVICE: there is no mega service "${environment.DEFAULT_MEGASERVICE}" in ${directory}.`,
      );
    }
    reportErrors({ errors });
    changed = () => catalog.#listeners.forEach((listener) => listener());
    announced.follow(() => void watcher.reload());
    return catalog;
  }

  /** Reloads the files at SIGHUP, for file systems that do not report changes. */
  readonly #reload = (): void => void this.watcher.reload();

  /** Calls back after each change of the mega services; the returned function ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  list(): MegaServiceDefinition[] {
    return [...this.watcher.current().definitions.values()];
  }

  find(name: string): MegaServiceDefinition | undefined {
    return this.watcher.current().definitions.get(name);
  }

  findByPath(path: string): MegaServiceDefinition | undefined {
    return this.list().find((definition) => definition.path === path);
  }

  /** The problems of the files that are not valid, each with the name of its file. Files that wait for a service are valid. */
  invalidFiles(): string[] {
    const errors = [...this.watcher.current().errors.values()];
    return errors.filter((error) => !lacksService(error)).map(({ message }) => message);
  }

  /** False if the file of the default mega service is not valid, or waits for a service. */
  hasDefault(): boolean {
    return this.find(this.defaultName) !== undefined;
  }

  /** The mega service for chats that do not name a model. Errors: model_not_found. */
  default(): MegaServiceDefinition {
    const definition = this.find(this.defaultName);
    if (definition) return definition;
    const available = this.list().map(({ name }) => name);
    throw new MegaNestError('model_not_found', { model: this.defaultName, available: available.join(', ') });
  }

  /** The YAML of a mega service's file. */
  sourceOf({ file }: MegaServiceDefinition): Promise<string> {
    return readFile(join(this.directory, basename(file)), 'utf8');
  }

  /** Problems in the YAML of a mega service; empty if it is valid. */
  problemsOf(source: string, file: string): readonly DefinitionProblem[] {
    try {
      parseMegaService(source, file, {
        registry: this.announced.registry,
        megaService: (name) => this.find(name),
      });
      return [];
    } catch (error) {
      if (error instanceof MegaServiceDefinitionError) return error.problems;
      throw error;
    }
  }

  onApplicationShutdown(): void {
    process.off('SIGHUP', this.#reload);
    this.watcher.close();
  }
}

/** Logs errors in files. The gateway keeps the last valid version of a changed file. */
function reportErrors({ errors }: { errors: ReadonlyMap<string, Error> }): void {
  for (const error of errors.values()) new Logger('megaservices').warn(error.message);
}
