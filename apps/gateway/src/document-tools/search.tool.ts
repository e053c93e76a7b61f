import { metadataFilterSchema, type RetrievedDocument } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import { collectionField } from '#api/dataprep-api';
import type { HttpCall } from '#platform/service-kit';
import { assertMayAsk } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { outputKindOf } from '../mega-services/definition-checks.js';
import { MegaServiceBody } from '../mega-services/mega-service-body.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { withAddresses } from '../mega-services/page-address.js';
import { defineTool, readsOnly, type McpTool } from './mcp-tool.js';
import { passagesAsText, passageSchema, toPassage } from './passages.js';

/** What is searched for. */
interface PassageQuery {
  query: string;
  collection?: string | undefined;
  max_results: number;
  filter?: z.output<typeof metadataFilterSchema> | undefined;
}

/** Candidates of the search for each result, so that the reranker has a choice. */
const minCandidates = 20;

/** Finds passages with the mega service of OPEA's retrieval tool, or another one that returns documents. */
@Injectable()
export class PassageSearch {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceBody) private readonly bodies: MegaServiceBody,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
  ) {}

  /** The mega service that searches; undefined if the installation has none. */
  get definition(): MegaServiceDefinition | undefined {
    const finding = this.megaServices.list().filter((each) => outputKindOf(each) === 'documents');
    return finding.find(({ path }) => path === '/v1/retrievaltool') ?? finding[0];
  }

  /** Errors: insufficient_scope, invalid_request, service_unavailable. */
  async search(
    { max_results: max, query, ...rest }: PassageQuery,
    call: HttpCall,
  ): Promise<RetrievedDocument[]> {
    const { definition } = this;
    if (!definition) return [];
    assertMayAsk(call, definition.name);
    const body = { ...rest, text: query, k: Math.max(max, minCandidates), top_n: max };
    const received = await this.bodies.receiveFields(body, definition);
    const { body: answer } = await this.outputs.documents(definition, received, call);
    const found = answer.reranked_docs ?? answer.retrieved_docs ?? [];
    return withAddresses(
      found.map((each) => ({ ...each, metadata: each.metadata ?? {} })),
      call.origin,
    ).slice(0, max);
  }
}

const input = z.strictObject({
  query: z
    .string()
    .min(1)
    .describe('What to find: a question or a short sentence in the words of the subject'),
  collection: collectionField.describe('Collection of documents; absent: the default one'),
  max_results: z.int().min(1).max(50).default(8),
  filter: metadataFilterSchema.optional().describe('Only passages whose metadata contain these values'),
});

/** The tool `search`. */
export function searchTool(searches: PassageSearch): McpTool {
  return defineTool({
    name: 'search',
    title: 'Search documents',
    description:
      'Finds the passages of the ingested documents that a question is about, best first. Each passage has the id of its ' +
      'document and its position there, with which open reads the whole section and find looks for further places.',
    input,
    output: z.object({ results: z.array(passageSchema) }),
    annotations: readsOnly,
    scope: 'read',
    run: async (query, { call, numbered }) => {
      const documents = await searches.search(query, call);
      const results = documents.map(toPassage);
      return { text: passagesAsText(results, numbered), structured: { results }, documents };
    },
  });
}
