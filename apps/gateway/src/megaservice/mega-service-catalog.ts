import { resolve } from 'node:path';
import { MegaNestError } from '#contracts';
import { watchMegaServices, type MegaServiceDefinition, type MegaServiceWatcher } from '#dag';
import { projectRoot } from '#service-kit';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { GatewayEnvironment } from '../gateway.environment.js';
import { serviceKinds } from './service-kinds.js';

/** The mega services of `MEGASERVICES_DIR`, by name and by path; follows changes of the files. */
export class MegaServiceCatalog implements OnApplicationShutdown {
  private constructor(
    private readonly watcher: MegaServiceWatcher,
    private readonly defaultName: string,
  ) {}

  static async open(environment: GatewayEnvironment): Promise<MegaServiceCatalog> {
    const directory = resolve(projectRoot, environment.MEGASERVICES_DIR);
    const watcher = await watchMegaServices(directory, serviceKinds);
    return new MegaServiceCatalog(watcher, environment.DEFAULT_MEGASERVICE);
  }

  list(): MegaServiceDefinition[] {
    return [...this.watcher.definitions.values()];
  }

  find(name: string): MegaServiceDefinition | undefined {
    return this.watcher.definitions.get(name);
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

  async onApplicationShutdown(): Promise<void> {
    await this.watcher.close();
  }
}
