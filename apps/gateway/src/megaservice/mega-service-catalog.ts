import { resolve } from 'node:path';
import { MegaNestError } from '#contracts';
import { watchMegaServices, type MegaServiceDefinition, type MegaServiceWatcher } from '#dag';
import { EnvironmentError, projectRoot } from '#service-kit';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { GatewayEnvironment } from '../gateway.environment.js';
import { serviceKinds } from './service-kinds.js';

/** The mega services of `MEGASERVICES_DIR`, by name and by path; follows changes of the files. */
export class MegaServiceCatalog implements OnApplicationShutdown {
  private constructor(
    private readonly watcher: MegaServiceWatcher,
    private readonly defaultName: string,
  ) {}

  /** Errors: EnvironmentError that names file and node when a file is not valid at boot. */
  static async open(environment: GatewayEnvironment): Promise<MegaServiceCatalog> {
    const directory = resolve(projectRoot, environment.MEGASERVICES_DIR);
    const watcher = await watchMegaServices({ directory, registry: serviceKinds, onChange: reportErrors });
    const catalog = new MegaServiceCatalog(watcher, environment.DEFAULT_MEGASERVICE);
    const { errors, definitions } = watcher.current();
    const problems = [...errors.values()].map(({ message }) => message);
    if (!definitions.has(environment.DEFAULT_MEGASERVICE)) {
      problems.push(`DEFAULT_MEGASERVICE: there is no mega service "${environment.DEFAULT_MEGASERVICE}".`);
    }
    if (problems.length === 0) return catalog;
    watcher.close();
    throw new EnvironmentError(
      `The mega services in ${directory} are not valid.\n  ${problems.join('\n  ')}`,
    );
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

  /** What answers a chat that names no model. Errors: model_not_found. */
  default(): MegaServiceDefinition {
    const definition = this.find(this.defaultName);
    if (definition) return definition;
    const available = this.list().map(({ name }) => name);
    throw new MegaNestError('model_not_found', { model: this.defaultName, available: available.join(', ') });
  }

  onApplicationShutdown(): void {
    this.watcher.close();
  }
}

/** A file that breaks while the gateway runs keeps its earlier version; the log says why. */
function reportErrors({ errors }: { errors: ReadonlyMap<string, Error> }): void {
  for (const error of errors.values()) new Logger('megaservices').warn(error.message);
}
