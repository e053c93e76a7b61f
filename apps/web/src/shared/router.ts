import { useSyncExternalStore } from 'react';

/** A route of the app, from the fragment of its address: `#/chat/conv_1`, `#/documents`. */
export interface Route {
  page: 'chat' | 'documents' | 'pipelines' | 'system';
  /** Id of the shown object: a conversation, a document, a mega service. */
  id?: string;
  /** The position of a passage in the document: `#/documents/ID?passage=3`, the address in a citation. */
  passage?: number;
  /** The source that is open over a conversation. */
  source?: Source;
}

/** A passage of a document, in an address. */
export interface Source {
  documentId: string;
  filename: string;
  /** Position of the first passage to show. */
  index?: number;
  /** Sentence to highlight in the passage. Without it the whole passage is highlighted. */
  quote?: string;
  /** Page of the passage, for a paged document. */
  page?: number;
  /** What the page is called, where that is not its number. */
  pageLabel?: string;
  /** When it is said in a recording, such as 1:23–1:41. */
  time?: string;
}

const pages = ['chat', 'documents', 'pipelines', 'system'] as const;

/** Parses a fragment. An unknown page becomes the chat. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.split('?', 2);
  const [, name, id] = path.split('/');
  const page = pages.find((known) => known === name) ?? 'chat';
  if (!id) return { page };
  const values = new URLSearchParams(query);
  const passage = positionOf(values.get('passage'));
  const source = sourceOf(values);
  return { page, id: decoded(id), ...(passage !== undefined && { passage }), ...(source && { source }) };
}

function sourceOf(query: URLSearchParams): Source | undefined {
  const documentId = query.get('document');
  if (!documentId) return undefined;
  const quote = query.get('quote');
  const index = positionOf(query.get('chunk'));
  const page = positionOf(query.get('page'));
  const time = query.get('time');
  const pageLabel = query.get('label');
  return {
    documentId,
    filename: query.get('name') ?? '',
    ...(quote && { quote }),
    ...(index !== undefined && { index }),
    ...(page !== undefined && { page }),
    ...(pageLabel && { pageLabel }),
    ...(time && { time }),
  };
}

function positionOf(value: string | null): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function queryOf({ documentId, filename, index, page, pageLabel, time, quote }: Source): string {
  const values = { document: documentId, name: filename, chunk: index, page, label: pageLabel, time, quote };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Decodes a part of an address. A malformed part stays as it is: the page then says that its object does not exist. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The fragment of a route, for links. */
export function hrefOf({ page, id, source }: Route): string {
  const path = id === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(id)}`;
  return source ? path + queryOf(source) : path;
}

/** Goes to a route. */
export function navigate(route: Route): void {
  window.location.hash = hrefOf(route);
}

/** Opens a source over a conversation. Back closes it. */
export function openSource(conversation: string, source: Source): void {
  navigate({ page: 'chat', id: conversation, source });
  window.history.replaceState(openedHere, '');
}

/** Closes the source. An address that this page did not open is replaced, so that Back does not open the source again. */
export function closeSource(conversation: string): void {
  if (window.history.state === openedHere) window.history.back();
  else window.location.replace(hrefOf({ page: 'chat', id: conversation }));
}

/** State of the history's entry of a source that was opened from its conversation, the entry before. */
const openedHere = 'opened-source';

function subscribe(notify: () => void): () => void {
  window.addEventListener('hashchange', notify);
  return () => window.removeEventListener('hashchange', notify);
}

/** The current route. */
export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => window.location.hash));
}
