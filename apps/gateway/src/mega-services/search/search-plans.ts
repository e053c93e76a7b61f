import { maxQueryCharacters, withoutFiles } from '#platform/contracts';
import type { CallOptions } from '#platform/messaging';
import {
  chatTaskOf,
  condenseQuestion,
  englishWordsOf,
  mentionedIn,
  smallTalkTopic,
  type SmallTalkTopic,
} from '#answers/questions';
import { detectLanguage } from '#platform/foundation';
import { Inject, Injectable } from '@nestjs/common';
import { asksForFiles } from '../../input-files/attached-files.js';
import type { Conversation, MegaServiceRequest } from '../mega-service-request.js';
import { CitedBefore } from './cited-before.js';
import { DocumentLanguages } from './document-languages.js';
import { QueryWriter } from './query-writer.js';
import type { SearchPlan } from './search-plan.js';

type Asking = {
  request: Pick<MegaServiceRequest, 'asksModel' | 'owner' | 'searchScope'>;
  /** Options of the call to the language model. */
  options: CallOptions;
};

/** Short messages that may take up an offer of the answer before, or object to it: the model decides. */
const dependsOnDialogue: ReadonlySet<SmallTalkTopic> = new Set(['assent', 'complaint', 'offer']);

/** Plans the search of documents for a conversation, once for all nodes of a run. */
@Injectable()
export class SearchPlans {
  readonly #plans = new WeakMap<Conversation, SearchPlan>();

  constructor(
    @Inject(QueryWriter) private readonly writer: Pick<QueryWriter, 'write'>,
    @Inject(CitedBefore) private readonly citedBefore: Pick<CitedBefore, 'find'>,
    @Inject(DocumentLanguages) private readonly languages: DocumentLanguages,
  ) {}

  /** The plan of a conversation. The language model begins to write with the first call. */
  planOf(conversation: Conversation, asking: Asking): SearchPlan {
    const known = this.#plans.get(conversation);
    if (known) return known;
    const plan = this.#plan(conversation, asking);
    this.#plans.set(conversation, plan);
    return plan;
  }

  #plan({ messages, query }: Conversation, { request, options }: Asking): SearchPlan {
    const { searchScope: scope = '' } = request;
    const turns = messages.map(withoutFiles);
    const searches = chatTaskOf(messages) === undefined && !asksForFiles(messages);
    const topic = request.asksModel ? smallTalkTopic(query) : undefined;
    const isFollowUp =
      turns.filter(({ role, content }) => role === 'user' && content.trim() !== '').length > 1;
    const asksModel =
      request.asksModel === true && searches && (!topic || (isFollowUp && dependsOnDialogue.has(topic)));
    const stopping = new AbortController();
    const written = asksModel
      ? this.writer.write(
          { messages: turns, languages: this.languages.namesOf(scope) },
          { ...options, signal: stopping.signal },
        )
      : Promise.resolve({ queries: [] });
    const condensed = isFollowUp ? condenseQuestion(turns) : query;
    // The words around what documents have to mention find other documents.
    const question = mentionedIn(condensed) ?? condensed;
    const asked = this.#withEnglishWords(question, scope).slice(0, maxQueryCharacters);
    const by = asked === query.slice(0, maxQueryCharacters) ? 'user' : 'words';
    return {
      searches,
      asked: topic ? undefined : { query: asked, by },
      isCut: question.length > maxQueryCharacters,
      written,
      cited: searches && isFollowUp && !topic ? this.citedBefore.find(messages, request.owner) : noPassages,
      question: written.then(({ queries }) => queries[0] ?? asked),
      learn: (texts) => asksModel && this.languages.learn(scope, texts),
      stop: () => stopping.abort(),
    };
  }

  /** A German question has its words in English, too, unless the documents are known not to be in English. */
  #withEnglishWords(question: string, scope: string): string {
    if (detectLanguage(question) !== 'de') return question;
    const languages = this.languages.namesOf(scope);
    if (languages.length > 0 && !languages.includes('English')) return question;
    return [question, ...englishWordsOf(question)].join(' ');
  }
}

const noPassages = Promise.resolve({ documents: [], passages: [] });
