import { Inject, Injectable, type Provider, type Type } from '@nestjs/common';
import { FileSearchSource } from './file-search.js';
import { McpToolSource } from './mcp/mcp-source.js';
import type { ServerToolSource } from './server-tool.js';

/** The sources there are. A new type of tool is a class and a line here. */
const sourceClasses: Type<ServerToolSource>[] = [FileSearchSource, McpToolSource];

const allSources = Symbol('serverToolSources');

/** Finds the source of a type of tools. */
@Injectable()
export class ServerToolSources {
  readonly #byType: ReadonlyMap<string, ServerToolSource>;

  constructor(@Inject(allSources) sources: readonly ServerToolSource[]) {
    this.#byType = new Map(sources.map((source) => [source.type, source]));
  }

  find(type: string): ServerToolSource | undefined {
    return this.#byType.get(type);
  }
}

export const serverToolProviders: Provider[] = [
  ...sourceClasses,
  {
    provide: allSources,
    inject: sourceClasses,
    useFactory: (...sources: ServerToolSource[]) => sources,
  },
  ServerToolSources,
];
