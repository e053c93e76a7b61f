import { useSyncExternalStore } from 'react';

/** A route of the app, from the fragment of its address: `#/chat/conv_1`, `#/documents`. */
export interface Route {
  page: 'chat' | 'documents' | 'pipelines' | 'system';
  /** Id of the shown object: a conversation, a document, a mega service. */
  id?: string;
}

const pages = ['chat', 'documents', 'pipelines', 'system'] as const;

/** Parses a fragment. An unknown page becomes the chat. */
export function routeOf(hash: string): Route {
  const [, name, id] = hash.split('/');
  const page = pages.find((known) => known === name) ?? 'chat';
  return id ? { page, id: decodeURIComponent(id) } : { page };
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
