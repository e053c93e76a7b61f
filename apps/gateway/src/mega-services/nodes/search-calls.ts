import {
  decodeVectors,
  embed,
  encodeVector,
  maxQueryCharacters,
  MegaNestError,
  rerank,
  retrieve,
  type ReplyOf,
  type RequestOf,
  type RetrievedDocument,
} from '#platform/contracts';
import { contentWords } from '#answers/questions';
import { hasFiles } from '../../input-files/attached-files.js';
import { conversationOf, questionOf, type NodeCall } from '../mega-service-request.js';
import type { CitedPassages } from '../search/cited-before.js';
import { fuseResults } from '../search/fuse-results.js';
import { rankingQuery } from '../search/ranking-query.js';
import { sameQuestionFirst } from '../search/same-question-first.js';
import type { SearchPlan, SearchQuery } from '../search/search-plan.js';
import { tryWholeDocuments, type WholeDocuments } from '../search/whole-documents.js';
import { behindHeading } from './service-calls.js';

/** Weights of the question as asked, and of the model's queries (docs/design/evidence-and-citations.md). */
const weights = { asked: 0.8, written: 1 };
/** Characters of a query in a receipt. */
const maxReportedCharacters = 500;

/**
 * The question as a vector. Where another node searches, it is the question as asked, so that this search does not wait
 * for the language model. Otherwise it is the question that stands alone. A question beyond the model's limit is
 * truncated, because its beginning still finds passages.
 */
export async function callEmbedding(call: NodeCall): Promise<string> {
  const { context, request } = call;
  const plan = call.plan();
  if (!plan.searches) return '';
  plan.embedding = { truncate: true, ...context.parameters };
  const query = request.retrieves ? (plan.asked?.query ?? '') : await standingAlone(call, plan);
  if (query === '') return '';
  const reply = await embedAll(call, plan.embedding, [query]);
  context.report({ model: reply.model, promptTokens: reply.promptTokens });
  return reply.vectors;
}

/** The question for a search that is not a node of the gateway. */
async function standingAlone(call: NodeCall, plan: SearchPlan): Promise<string> {
  const { queries, problem } = await plan.written;
  const [first] = queries.map((query): SearchQuery => ({ query, by: 'model' }));
  const chosen = first ?? plan.asked;
  reportSearch(call, plan, chosen ? [chosen] : [], { search_queries: problem });
  return chosen?.query ?? '';
}

function embedAll(
  { client, options }: NodeCall,
  parameters: Readonly<Record<string, unknown>>,
  inputs: string[],
): Promise<ReplyOf<typeof embed>> {
  return client.request(embed, { input_type: 'query', ...parameters, inputs }, options);
}

/**
 * The documents for the question as asked and for the queries that the language model writes at the same time, in one
 * list, then the passages that the last answer cites. A model that is late or fails leaves the documents of the question
 * as asked, and the receipt says so.
 */
export async function callRetrieval(call: NodeCall): Promise<RetrievedDocument[]> {
  const plan = call.plan();
  if (!plan.searches) return [];
  const { options, context } = call;
  plan.retrieval = context.parameters;
  plan.whole = await readWhole(call);
  if (plan.whole) {
    plan.stop();
    return plan.whole.passages;
  }
  options.signal?.addEventListener('abort', plan.stop, { once: true });
  try {
    const cited = await plan.cited;
    const [asked, written] = await Promise.all([
      searchAsked(call, plan, cited),
      searchWritten(call, plan, cited),
    ]);
    const weight = written.repeats ? weights.written : weights.asked;
    const results = [
      ...asked.map((result) => ({ ...result, weight })),
      ...written.results.map((result) => ({ ...result, weight: weights.written })),
    ];
    const documents = withCited(fuseResults(results), results, cited);
    plan.learn(documents.map(({ text }) => text));
    const [first] = results;
    const found = documents.map(({ id, score }) => ({ id, score }));
    context.report({ ...(first && { searchType: first.searchType }), documents: found });
    const queries = [...(plan.asked ? [plan.asked] : []), ...written.queries];
    reportSearch(call, plan, queries, { retrieval: first?.degraded, search_queries: written.problem });
    return documents;
  } finally {
    options.signal?.removeEventListener('abort', plan.stop);
  }
}

/** The documents that the question asks about as a whole. */
async function readWhole(call: NodeCall): Promise<WholeDocuments | undefined> {
  const { client, context, options, request } = call;
  if (!request.asksModel) return undefined;
  const { messages } = conversationOf(call);
  if (hasFiles(messages)) return undefined;
  const reading = { client, options, parameters: context.parameters, reads: await call.evidence() };
  const whole = await tryWholeDocuments(questionOf(messages), reading);
  if (!whole) return undefined;
  const { kind, passages, cut } = whole;
  const degraded = cut.length > 0 ? { degraded: { documents: `read in part: ${cut.join(', ')}` } } : {};
  context.report({ whole: { kind, passages: passages.length }, ...degraded });
  return whole;
}

type Result = ReplyOf<typeof retrieve>;

/** Parameters of a query's search that differ from those of the node. */
type Differing = Pick<RequestOf<typeof retrieve>, 'embedding' | 'search_type' | 'passages'>;

function search(
  { client, context, options }: NodeCall,
  query: string,
  { documents }: CitedPassages,
  differing: Differing,
): Promise<Result> {
  const preferred = documents.length > 0 && { preferred_documents: [...documents] };
  return client.request(retrieve, { ...context.parameters, ...preferred, ...differing, query }, options);
}

async function searchAsked(call: NodeCall, plan: SearchPlan, cited: CitedPassages): Promise<Result[]> {
  if (!plan.asked) return [];
  const embedding = call.context.inputs['embedding'] as string | undefined;
  return [await search(call, plan.asked.query, cited, { embedding, ...passagesOf(cited) })];
}

/** The cited passages, for one of the searches of a request. */
function passagesOf({ passages }: CitedPassages): Differing {
  return passages.length > 0 ? { passages: [...passages] } : {};
}

interface WrittenSearch {
  results: Result[];
  queries: SearchQuery[];
  /** One of the model's queries has the words of the question as asked. These are searched once. */
  repeats: boolean;
  problem?: string | undefined;
}

/** Searches with the queries of the language model that differ from the question. Does not reject. */
async function searchWritten(call: NodeCall, plan: SearchPlan, cited: CitedPassages): Promise<WrittenSearch> {
  const { queries, problem } = await plan.written;
  const known = new Set(plan.asked ? [sameWords(plan.asked.query)] : []);
  const fresh = queries.filter((query) => {
    const words = sameWords(query);
    return known.has(words) ? false : Boolean(known.add(words));
  });
  const asked = plan.asked && sameWords(plan.asked.query);
  const none = { results: [], queries: [], repeats: queries.some((query) => sameWords(query) === asked) };
  if (fresh.length === 0) return { ...none, problem };
  try {
    const differing = await differingFor(call, plan, fresh);
    // Without a search for the question, the first query finds the cited passages.
    if (!plan.asked) differing[0] = { ...differing[0], ...passagesOf(cited) };
    const searches = fresh.map((query, index) => search(call, query, cited, differing[index] ?? {}));
    const written = fresh.map((query): SearchQuery => ({ query, by: 'model' }));
    return { ...none, results: await Promise.all(searches), queries: written, problem };
  } catch (error) {
    return { ...none, problem: MegaNestError.from(error, 'retrieval').code };
  }
}

/**
 * The vectors of queries, by the embedding service where it also made the vector of the question. A service of a user
 * has vectors of another model, so that the queries are searched by words.
 */
async function differingFor(call: NodeCall, plan: SearchPlan, queries: string[]): Promise<Differing[]> {
  if (plan.embedding) {
    const { vectors, dimensions } = await embedAll(call, plan.embedding, queries);
    return decodeVectors(vectors, dimensions).map((vector) => ({ embedding: encodeVector(vector) }));
  }
  const isForeign = call.context.inputs['embedding'] !== undefined;
  return queries.map(() => (isForeign ? { search_type: 'lexical' } : {}));
}

/** The content words of a query in alphabetical order: two queries with the same ones find the same passages. */
function sameWords(query: string): string {
  const words = contentWords(query.toLowerCase());
  return [...new Set(words.length > 0 ? words : [query.trim()])].toSorted().join(' ');
}

/** The fused documents, and behind them the cited passages that the fusion left out. */
function withCited(
  fused: readonly RetrievedDocument[],
  results: readonly Result[],
  { passages }: CitedPassages,
): RetrievedDocument[] {
  const known = new Set(fused.map(({ id }) => id));
  const found = new Map(results.flatMap(({ documents }) => documents.map((each) => [each.id, each])));
  const score = fused.at(-1)?.score;
  const missing = passages.filter((id) => !known.has(id)).flatMap((id) => found.get(id) ?? []);
  return [...fused, ...missing.map((document) => ({ ...document, score: score ?? document.score }))];
}

/** Adds the queries, and the parts of the search that failed, to the receipt. */
function reportSearch(
  { context }: NodeCall,
  plan: SearchPlan,
  queries: readonly SearchQuery[],
  problems: Readonly<Record<string, string | undefined>>,
): void {
  const searched = queries.map(({ query, by }) => ({ query: query.slice(0, maxReportedCharacters), by }));
  const cut = plan.isCut ? { query: `cut to ${maxQueryCharacters} characters` } : {};
  const failed = Object.entries({ ...problems, ...cut }).filter(([, reason]) => reason !== undefined);
  context.report({ searched, ...(failed.length > 0 && { degraded: Object.fromEntries(failed) }) });
}

/** The documents in the order of the reranking model, with its scores. */
export async function callReranking(call: NodeCall): Promise<RetrievedDocument[]> {
  const { client, context, options } = call;
  const documents = context.inputs['documents'] as RetrievedDocument[];
  const plan = call.plan();
  if (documents.length === 0 || plan.whole) return documents;
  const texts = documents.map(behindHeading);
  const { queries } = await plan.written;
  const query = queries.length > 0 ? rankingQuery(queries, texts) : await plan.question;
  const scores = documents.map(({ score }) => score);
  const top_n = (await call.evidence())?.passages;
  const request = { top_n, ...context.parameters, query, texts, scores };
  const reply = await client.request(rerank, request, options);
  context.report({ model: reply.model, results: reply.results });
  const ranked = reply.results.flatMap(({ index, score }) => {
    const document = documents[index];
    return document ? [{ ...document, score }] : [];
  });
  return sameQuestionFirst(await plan.question, documents, ranked);
}
