import type { RetrievedDocument } from '#contracts';
import { newItemId } from '../ids.js';
import type { ToolStep } from './machine-step.js';
import { fileSearchResult } from '../items/documents.js';
import type { FileSearchCall } from '../items/output-items.js';

export interface ShownSearch {
  query: string;
  documents: readonly RetrievedDocument[];
  /** The item shows what was found. */
  includeResults: boolean;
}

/** The steps of a retrieval that has happened already; its passages are what citations resolve to. */
export function fileSearchSteps({ query, documents, includeResults }: ShownSearch): ToolStep[] {
  const item: FileSearchCall = {
    id: newItemId('file_search_call'),
    type: 'file_search_call',
    status: 'in_progress',
    queries: [query],
    results: null,
  };
  const { id } = item;
  const results = includeResults ? documents.map(fileSearchResult) : null;
  return [
    { type: 'documents', documents },
    { type: 'item_added', item },
    { type: 'item_progress', id, phase: 'in_progress' },
    { type: 'item_progress', id, phase: 'searching' },
    { type: 'item_progress', id, phase: 'completed' },
    { type: 'item_done', item: { ...item, status: 'completed', results } },
  ];
}
