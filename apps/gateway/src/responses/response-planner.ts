import { MegaNestError, type ChatMessage } from '#contracts';
import { newId, newResponse, toChatMessages, type ResponseRequest, type StoredItem } from '#responses';
import { Inject, Injectable } from '@nestjs/common';
import { MegaServiceCatalog } from '../megaservice/mega-service-catalog.js';
import { ContextLoader } from './context-loader.js';
import type { ResponsePlan } from './response-plan.js';

/** Turns a request into a plan: loads what was said before, resolves references, reduces all of it to text turns. */
@Injectable()
export class ResponsePlanner {
  constructor(
    @Inject(ContextLoader) private readonly context: ContextLoader,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
  ) {}

  /** Errors: those of {@link ContextLoader}; invalid_request without any input; unsupported_parameter. */
  async plan(owner: string, request: ResponseRequest): Promise<ResponsePlan> {
    const { settings, parameters, model, extra, include } = request;
    const [history, inputItems] = await Promise.all([
      this.context.history(owner, settings),
      this.context.resolve(owner, request.input),
    ]);
    const { messages, skipped } = conversationOf(settings.instructions, history, inputItems);
    const definition = model === undefined ? this.megaServices.default() : this.megaServices.find(model);
    const searches = [...(definition?.nodes.values() ?? [])].some(
      ({ target }) => target.service === 'retrieval',
    );
    const initial = newResponse({
      id: newId('resp'),
      createdAt: Math.floor(Date.now() / 1000),
      model: model ?? definition?.name ?? '',
      settings,
      status: settings.background ? 'queued' : 'in_progress',
    });
    return {
      owner,
      initial,
      inputItems,
      ignored: [...request.ignored, ...skipped.map((type) => `input.${type}`)],
      job: {
        chat: { messages, model, parameters, extra, includeUsage: true },
        truncation: settings.truncation,
        searchQuery: searches ? questionOf(messages) : null,
        includeSearchResults: include.has('file_search_call.results'),
      },
    };
  }
}

/** Instructions first: those of earlier responses are not carried over, only what was said. */
function conversationOf(instructions: string | null, history: StoredItem[], input: StoredItem[]) {
  const earlier = toChatMessages(history, (index) => `context.${index}`);
  const now = toChatMessages(input);
  const messages: ChatMessage[] = [...earlier.messages, ...now.messages];
  if (messages.length === 0)
    throw new MegaNestError('invalid_request', { detail: 'input: is required', param: 'input' });
  if (instructions !== null) messages.unshift({ role: 'system', content: instructions });
  return { messages, skipped: [...new Set(now.skippedTypes)] };
}

/** The last thing that the user said. */
function questionOf(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? messages.at(-1)?.content ?? '';
}
