import type { Type } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { version } from '../config/version.js';
import type { ServiceIdentity } from '../service-identity.js';
import { buildDocument, type OpenApiDocument, type OpenApiPaths } from './build-document.js';

/** The OpenAPI document of the running service. */
export class ApiDocument {
  #routes: OpenApiDocument | undefined;
  readonly #extensions: (() => OpenApiPaths)[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly identity: ServiceIdentity,
  ) {}

  /** Adds paths that are known only while the service runs; asked for each time the document is read. */
  extend(paths: () => OpenApiPaths): void {
    this.#extensions.push(paths);
  }

  read(): OpenApiDocument {
    this.#routes ??= buildDocument(this.identity, this.#controllers(), version);
    const paths = Object.assign({}, this.#routes.paths, ...this.#extensions.map((extension) => extension()));
    return { ...this.#routes, paths: paths as OpenApiPaths };
  }

  #controllers(): Type[] {
    const wrappers = this.discovery.getControllers();
    return wrappers.flatMap(({ metatype }) => (metatype ? [metatype as Type] : []));
  }
}
