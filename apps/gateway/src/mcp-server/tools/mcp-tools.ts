import { Dataprep } from '#dataprep-api';
import { ObjectStore } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { HttpCall } from '#service-kit';
import { ChatService } from '../../chat/chat.service.js';
import { MegaServiceBody } from '../../mega-services/mega-service-body.js';
import { MegaServiceCatalog } from '../../mega-services/mega-service-catalog.js';
import { MegaServiceOutputs } from '../../mega-services/mega-service-outputs.js';
import { DocumentReader } from '../document-reader.js';
import { askTool } from './ask.tool.js';
import { findTool } from './find.tool.js';
import { ingestTool } from './ingest.tool.js';
import { listDocumentsTool } from './list-documents.tool.js';
import { mayUse, type McpTool } from './mcp-tool.js';
import { megaServiceTools, type MegaServiceRunning } from './mega-service-tools.js';
import { openTool } from './open.tool.js';
import { PassageSearch, searchTool } from './search.tool.js';

/** The tools of the MCP server: over documents, and one for each mega service. */
@Injectable()
export class McpTools {
  readonly #own: McpTool[];
  readonly #search: McpTool;
  readonly #running: MegaServiceRunning;

  constructor(
    @Inject(PassageSearch) private readonly searches: PassageSearch,
    @Inject(DocumentReader) documents: DocumentReader,
    @Inject(Dataprep) dataprep: Dataprep,
    @Inject(ObjectStore) objects: ObjectStore,
    @Inject(ChatService) chat: ChatService,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceBody) bodies: MegaServiceBody,
    @Inject(MegaServiceOutputs) outputs: MegaServiceOutputs,
  ) {
    this.#running = { chat, bodies, outputs };
    this.#search = searchTool(searches);
    this.#own = [
      findTool(documents),
      openTool(documents),
      listDocumentsTool(dataprep),
      askTool(chat),
      ingestTool(dataprep, objects),
    ];
  }

  /** The tools that a caller may use, as the mega services are now. */
  list(call: Pick<HttpCall, 'caller'>): McpTool[] {
    return this.#all().filter((tool) => mayUse(call, tool));
  }

  find(name: string): McpTool | undefined {
    return this.#all().find((tool) => tool.name === name);
  }

  #all(): McpTool[] {
    const { definition } = this.searches;
    const own = definition ? [this.#search, ...this.#own] : this.#own;
    const taken = new Set(own.map(({ name }) => name));
    // The tool `search` is this mega service.
    const others = this.megaServices.list().filter((each) => each !== definition);
    return [...own, ...megaServiceTools(others, this.#running, taken)];
  }
}
