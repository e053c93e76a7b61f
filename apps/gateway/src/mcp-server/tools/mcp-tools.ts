import { ObjectStore } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { HttpCall } from '#platform/service-kit';
import { ChatService } from '../../chat/chat.service.js';
import { DocumentReader } from '../../document-tools/document-reader.js';
import { askTool } from './ask.tool.js';
import { findTool } from '../../document-tools/find.tool.js';
import { ingestTool } from './ingest.tool.js';
import { listDocumentsTool } from './list-documents.tool.js';
import { mayUse, type McpTool } from '../../document-tools/mcp-tool.js';
import { MegaServiceTools } from './mega-service-tools.js';
import { openTool } from '../../document-tools/open.tool.js';
import { PassageSearch, searchTool } from '../../document-tools/search.tool.js';

/** The tools of the MCP server: over documents, and one for each mega service. */
@Injectable()
export class McpTools {
  readonly #own: McpTool[];
  readonly #search: McpTool;

  constructor(
    @Inject(PassageSearch) private readonly searches: PassageSearch,
    @Inject(DocumentReader) documents: DocumentReader,
    @Inject(ObjectStore) objects: ObjectStore,
    @Inject(ChatService) chat: ChatService,
    @Inject(MegaServiceTools) private readonly megaServices: MegaServiceTools,
  ) {
    this.#search = searchTool(searches);
    this.#own = [
      findTool(documents),
      openTool(documents),
      listDocumentsTool(documents.dataprep),
      askTool(chat),
      ingestTool(documents.dataprep, objects),
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
    return [...own, ...this.megaServices.list(taken, definition)];
  }
}
