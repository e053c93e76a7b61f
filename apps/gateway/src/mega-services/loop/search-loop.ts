import {
  decodeVectors,
  embed,
  encodeVector,
  retrieve,
  type ReplyOf,
  type RetrievedDocument,
} from '#platform/contracts';
import { isAbout, nextQueries, type Link } from '#answers/questions';
import { z } from 'zod';
import type { NodeCall } from '../mega-service-request.js';
import type { SearchPlan } from '../search/search-plan.js';

/** Parameters of the node `retrieval.loop`. */
export const loopParametersSchema = z.object({
  max_rounds: z.int().min(0).max(4).optional().describe('Further searches, one after the other; 0: none'),
  max_queries: z.int().min(1).max(8).optional().describe('Queries of one further search'),
});

const usual = { max_rounds: 1, max_queries: 3 };
/** Passages that one query of a further search finds. */
const passagesOfQuery = 8;
/** The share of the passages that further searches may replace, the last ones first. */
const maxShare = 1 / 2;
/** Characters of a passage whose words count as said. */
const maxReadCharacters = 8_000;

type StopReason = 'supported' | 'nothing_new' | 'no_links' | 'budget';

/**
 * Searches again where the found passages do not say what the question asks: with the names of the passages, and the
 * words of the question that they lack. The result has as many passages as the input; those of further searches replace
 * the last ones, so that the evidence keeps its size. Stops when the first passages have the words of the question, when
 * they name nothing else, when a search finds nothing new, or after `max_rounds`.
 */
export async function callLoop(call: NodeCall): Promise<RetrievedDocument[]> {
  const found = call.context.inputs['documents'] as RetrievedDocument[];
  const plan = call.plan();
  const { max_rounds: maxRounds, max_queries: maxQueries } = { ...usual, ...call.context.parameters };
  if (found.length < 2 || plan.whole || !plan.searches) return found;
  const question = await plan.question;
  const hops: RetrievedDocument[] = [];
  const tried = new Set<string>();
  const queries: string[] = [];
  let stopped: StopReason = 'budget';
  let rounds = 0;
  for (; rounds < maxRounds; rounds += 1) {
    const wanted = nextQueries(question, textsOf([...hops.toReversed(), found[0]!]), textsOf(found.slice(1)));
    if (wanted.missing.length === 0) stopped = 'supported';
    const links = wanted.links.filter(({ name }) => !tried.has(name.toLowerCase())).slice(0, maxQueries);
    if (links.length === 0) {
      if (stopped !== 'supported') stopped = 'no_links';
      break;
    }
    for (const { name, query } of links) {
      tried.add(name.toLowerCase());
      queries.push(query);
    }
    const room = Math.floor(found.length * maxShare) - hops.length;
    const fresh = room > 0 ? await searchAgain(call, plan, { links, known: [...found, ...hops], room }) : [];
    if (fresh.length === 0) {
      stopped = 'nothing_new';
      rounds += 1;
      break;
    }
    hops.push(...fresh);
  }
  const documents = merged(found, hops, [...tried]);
  call.context.report({
    loop: { rounds, stopped },
    searched: queries.map((query) => ({ query, by: 'names' })),
    documents: documents.map(({ id, score }) => ({ id, score })),
  });
  return documents;
}

function textsOf(documents: readonly RetrievedDocument[]): string[] {
  return documents.map(({ text }) => text.slice(0, maxReadCharacters));
}

interface Further {
  links: readonly Link[];
  /** Passages that the evidence has already. */
  known: readonly RetrievedDocument[];
  /** Passages that the evidence has room for. */
  room: number;
}

/** The best new passage about each name, then the second best ones, as many as there is room for. */
async function searchAgain(
  call: NodeCall,
  plan: SearchPlan,
  { links, known, room }: Further,
): Promise<RetrievedDocument[]> {
  const results = await searchAll(call, plan, links);
  const ids = new Set(known.map(({ id }) => id));
  const lists = results.map(({ documents }, index) =>
    documents.filter(({ text }) => isAbout(text, links[index]!.name)),
  );
  const chosen: RetrievedDocument[] = [];
  const maxLength = Math.max(...lists.map(({ length }) => length));
  for (let rank = 0; rank < maxLength; rank += 1)
    for (const list of lists) {
      const document = list[rank];
      if (!document || ids.has(document.id) || chosen.length === room) continue;
      ids.add(document.id);
      chosen.push(document);
    }
  return chosen;
}

/** Searches with the parameters of the node that searched first: the same collection and filter. */
async function searchAll(
  { client, options }: NodeCall,
  { embedding, retrieval = {} }: SearchPlan,
  links: readonly Link[],
): Promise<ReplyOf<typeof retrieve>[]> {
  const inputs = links.map(({ query }) => query);
  const vectors =
    embedding && (await client.request(embed, { input_type: 'query', ...embedding, inputs }, options));
  const decoded = vectors && decodeVectors(vectors.vectors, vectors.dimensions);
  return Promise.all(
    inputs.map((query, index) => {
      const vector = decoded?.[index];
      const how = vector ? { embedding: encodeVector(vector) } : { search_type: 'lexical' as const };
      return client.request(retrieve, { ...retrieval, ...how, k: passagesOfQuery, query }, options);
    }),
  );
}

/** The first passages, then those of the further searches. Passages about the same names leave last. */
function merged(
  found: readonly RetrievedDocument[],
  hops: readonly RetrievedDocument[],
  names: readonly string[],
): RetrievedDocument[] {
  if (hops.length === 0) return [...found];
  const [first, ...rest] = found;
  const leaving = new Set(
    rest
      .toReversed()
      .toSorted((left, right) => rankOfName(right, names) - rankOfName(left, names))
      .slice(0, hops.length),
  );
  const kept = rest.filter((document) => !leaving.has(document));
  const score = kept.at(-1)?.score ?? first!.score;
  return [first!, ...kept, ...hops.map((document) => ({ ...document, score }))];
}

/** The position of the first name that a passage is about. */
function rankOfName({ text }: RetrievedDocument, names: readonly string[]): number {
  const rank = names.findIndex((name) => isAbout(text, name));
  return rank === -1 ? names.length : rank;
}
