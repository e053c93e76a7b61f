import { useSyncExternalStore } from 'react';

/** A route of the app, from the fragment of its address: `#/chat/conv_1`, `#/documents`. */
export interface Route {
  page: 'chat' | 'documents' | 'pipelines' | 'system';
  /** Id of the shown object: a conversation, a document, a mega service. */
  id?: string;
  /** The position of a passage in the document: `#/documents/ID?passage=3`, the address in a citation. */
  passage?: number;
}

const pages = ['chat', 'documents', 'pipelines', 'system'] as const;

/** Parses a fragment. An unknown page becomes the chat. */
export function routeOf(hash: string): Route {
  const [path = '', query] = hash.split('?');
  const [, name, id] = path.split('/');
  const page = pages.find((known) => known === name) ?? 'chat';
  const passage = /^passage=(\d{1,9})$/.exec(query ?? '')?.[1];
  if (!id) return { page };
  return { page, id: decodeURIComponent(id), ...(passage !== undefined && { passage: Number(passage) }) };
}

/** The fragment of a route, for links. */
export function hrefOf({ page, id }: Route): string {
  return id === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(id)}`;
}

/** Goes to a route. */
export function navigate(route: Route): void {
  window.location.hash = hrefOf(route);
}

function subscribe(notify: () => void): () => void {
  window.addEventListener('hashchange', notify);
  return () => window.removeEventListener('hashchange', notify);
}

/** The current route. */
export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => window.location.hash));
}
