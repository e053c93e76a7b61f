import { invalidField, parseOrThrow } from '#platform/contracts';
import { collectionField } from '#api/dataprep-api';
import { loadProfile, type HttpCall, type Profile } from '#platform/service-kit';
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/sdk/types.js';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { PassageSearch } from '../document-tools/search.tool.js';

const argumentsSchema = z.strictObject({ question: z.string().min(1), collection: collectionField });

/** Passages in the prompt, where the profile has no smaller number. */
const usualPassages = 20;

const answerPrompt = {
  name: 'answer_from_documents',
  title: 'Answer from the documents',
  description: 'A question with the passages that a search finds for it, as the prompt of the profile.',
  arguments: [
    { name: 'question', description: 'The question', required: true },
    { name: 'collection', description: 'Collection of documents; absent: the default one' },
  ],
} satisfies Prompt;

/** The prompts of the MCP server: the grounded prompt of the profile, for the client's own model. */
@Injectable()
export class ProfilePrompts {
  readonly #grounding: Profile['llm']['grounding'];

  constructor(
    @Inject(gatewayEnvironment) { MEGANEST_PROFILE }: Pick<GatewayEnvironment, 'MEGANEST_PROFILE'>,
    @Inject(PassageSearch) private readonly searches: Pick<PassageSearch, 'search'>,
  ) {
    // The client's model is not the bundled one, whose prompt a profile may have besides.
    const { llm } = loadProfile(MEGANEST_PROFILE);
    this.#grounding = (llm.endpoint ?? llm).grounding;
  }

  list(): Prompt[] {
    return [answerPrompt];
  }

  /** Errors: invalid_request for an unknown prompt or a missing argument, and the errors of the search. */
  async get(name: string, given: Record<string, string> = {}, call: HttpCall): Promise<GetPromptResult> {
    if (name !== answerPrompt.name) throw invalidField('name', `the prompt ${name} is unknown`);
    const { question, collection } = parseOrThrow(argumentsSchema, given);
    const { maxPassages, systemPrompt, userPrompt } = this.#grounding;
    const query = { query: question, collection, max_results: Math.min(maxPassages, usualPassages) };
    const found = await this.searches.search(query, call);
    const context = found.map(({ text }, index) => `[${index + 1}] ${text}`).join('\n\n');
    const values: Readonly<Record<string, string>> = { context, question };
    const filled = userPrompt.replaceAll(
      /\{(context|question)\}/g,
      (_match, key: string) => values[key] ?? '',
    );
    const text = [systemPrompt, filled].filter(Boolean).join('\n\n');
    return {
      description: answerPrompt.description,
      messages: [{ role: 'user', content: { type: 'text', text } }],
    };
  }
}
