import type { CitedPassages } from './cited-before.js';
import type { WholeDocuments } from './whole-documents.js';
import type { WrittenQueries } from './query-writer.js';

/** A query and its author: the user, the rules that add words of earlier turns, the language model, or names that a search found. */
export interface SearchQuery {
  readonly query: string;
  readonly by: 'user' | 'words' | 'model' | 'names';
}

/** How the documents for a conversation are searched. All nodes of a run share it. */
export interface SearchPlan {
  /**
   * Whether documents are searched at all. Not for a task of a chat page, such as a title, and not for a question about
   * attached files as a whole.
   */
  readonly searches: boolean;
  /** The last question, with words of earlier turns if it is a follow-up; undefined for small talk. */
  readonly asked: SearchQuery | undefined;
  /** The question was cut to the limit of queries. */
  readonly isCut: boolean;
  /** The queries of the language model. Does not reject. */
  readonly written: Promise<WrittenQueries>;
  /** The passages that earlier answers of this conversation cite. Does not reject. */
  readonly cited: Promise<CitedPassages>;
  /** The question that stands alone: the first query of the model, or else the question. */
  readonly question: Promise<string>;
  /** Parameters of the node that embeds queries; undefined without one, or if it is a service of a user. */
  embedding?: Readonly<Record<string, unknown>>;
  /** Parameters of the node that searches; its collection and filter also apply to further searches. */
  retrieval?: Readonly<Record<string, unknown>>;
  /** Learns the languages of the documents from the texts of found passages. */
  readonly learn: (texts: readonly string[]) => void;
  /** The documents that the question asks about as a whole, in place of a search; set by the node that searches. */
  whole?: WholeDocuments | undefined;
  /** Stops the language model. */
  readonly stop: () => void;
}
