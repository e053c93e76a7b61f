import type { DocumentChunks, IngestJob } from '#platform/contracts';
import { QueryClient, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type OpenAI from 'openai';
import { useMemo } from 'react';
import { call, openai } from './connection';

/** Cache of the data from the gateway. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: 1, refetchOnWindowFocus: false } },
});

/** A conversation in a list. */
export type Conversation = OpenAI.Conversations.Conversation & { metadata: Record<string, string> };

interface Page<Item> {
  data: Item[];
  last_id: string;
  has_more: boolean;
}

/** Reads all conversations in pages, latest first. */
export function useConversations() {
  return useInfiniteQuery({
    queryKey: ['conversations'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      call<Page<Conversation>>(`/conversations?limit=100${pageParam && `&after=${pageParam}`}`),
    getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : undefined),
  });
}

/** A conversation from the pages of the list that have been read. */
export function useConversation(id: string | undefined): Conversation | undefined {
  const { data } = useConversations();
  return useMemo(() => data?.pages.flatMap((page) => page.data).find((one) => one.id === id), [data, id]);
}

/** Key of a conversation's items. */
export const itemsKey = (id: string) => ['items', id] as const;

/** Reads every item of a conversation, oldest first. */
export async function readItems(id: string): Promise<OpenAI.Conversations.ConversationItem[]> {
  const items: OpenAI.Conversations.ConversationItem[] = [];
  const include = ['file_search_call.results' as const];
  for await (const item of openai().conversations.items.list(id, { limit: 100, order: 'asc', include }))
    items.push(item);
  return items;
}

/** The items of a conversation. */
export function useItems(id: string | undefined) {
  return useQuery({
    queryKey: itemsKey(id ?? ''),
    queryFn: () => readItems(id ?? ''),
    enabled: id !== undefined,
    staleTime: Infinity,
  });
}

/** A mega service as `/v1/megaservices` describes it. */
export interface MegaService {
  name: string;
  path: string;
  description: string;
  file: string;
  nodes: MegaServiceNode[];
}

/** A node of a mega service. */
export interface MegaServiceNode {
  node: string;
  service: string;
  after: string[];
  params: Record<string, unknown>;
  optional: boolean;
  stream: boolean;
}

/** The mega services. */
export const megaServicesQuery = queryOptions({
  queryKey: ['megaservices'],
  queryFn: async () => (await call<{ megaservices: MegaService[] }>('/megaservices')).megaservices,
});

/** Hook for {@link megaServicesQuery}. */
export const useMegaServices = () => useQuery(megaServicesQuery);

/** A model as `/v1/models` lists it. */
export interface ListedModel {
  id: string;
  service?: string;
  backend?: string;
  revision?: string;
  max_model_len?: number;
}

/** Mega services and models. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async () => (await call<{ data: ListedModel[] }>('/models')).data,
});

/** Hook for {@link modelsQuery}. */
export const useModels = () => useQuery(modelsQuery);

/** A parameter of a mega service. */
export interface Parameter {
  name: string;
  node: string;
  description: string | null;
  default: unknown;
  schema: { type?: string; enum?: string[]; minimum?: number; maximum?: number };
}

/** The parameters of each mega service. */
export function useParameters() {
  return useQuery({
    queryKey: ['parameters'],
    queryFn: () => call<Record<string, Parameter[]>>('/list_parameters?verbose=true'),
  });
}

/** A stored document. */
export type ListedDocument = Omit<DocumentChunks['document'], 'filename' | 'createdAt'> & {
  name: string;
  created_at: string;
};

/** Number of documents on one page of a list. */
const documentsPerPage = 200;

/** Reads the documents of a collection whose names contain a text, in pages, newest first. */
export function useDocuments(collection: string | null, search: string) {
  return useInfiniteQuery({
    queryKey: ['documents', collection, search],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset }) =>
      call<ListedDocument[]>('/dataprep/get', {
        offset,
        limit: documentsPerPage,
        ...(collection && { collection }),
        ...(search && { search }),
      }),
    getNextPageParam: (last, pages) =>
      last.length === documentsPerPage ? pages.length * documentsPerPage : undefined,
  });
}

/** The names of the collections. */
export function useCollections() {
  return useQuery({ queryKey: ['collections'], queryFn: () => call<string[]>('/dataprep/indices') });
}

/** Number of chunks in one page. */
export const chunksPerPage = 50;

/** Number of chunks of a document, and some of the chunks. */
interface ShownChunks {
  document: { chunks: number; name?: string } & Pick<ListedDocument, 'read' | 'warnings'>;
  chunks: readonly Pick<DocumentChunks['chunks'][number], 'index' | 'text' | 'metadata'>[];
}

/** Reads one page of the chunks of a document, or of a file in one of the vector stores. */
export function useChunks(
  { documentId, stores = [] }: { documentId: string; stores?: readonly string[] },
  page: number,
) {
  const isFile = documentId.startsWith('file');
  return useQuery({
    queryKey: ['chunks', documentId, isFile ? stores : page],
    queryFn: () =>
      isFile
        ? readContent(documentId, stores)
        : call<ShownChunks>(
            `/dataprep/documents/${documentId}/chunks?from=${page * chunksPerPage}&limit=${chunksPerPage}`,
          ),
    staleTime: 60_000,
  });
}

/** Reads the whole content of a file from the first vector store that contains it. */
async function readContent(file: string, stores: readonly string[]): Promise<ShownChunks> {
  let failure: unknown = new Error(file);
  for (const store of stores) {
    try {
      const texts: string[] = [];
      for (let next: string | null = ''; next !== null;) {
        const page: { data: { text: string }[]; next_page: string | null } = await call(
          `/vector_stores/${store}/files/${file}/content${next && `?page=${next}`}`,
        );
        texts.push(...page.data.map(({ text }) => text));
        next = page.next_page;
      }
      const chunks = texts.map((text, index) => ({ index, text, metadata: {} }));
      return { document: { chunks: chunks.length }, chunks };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Reads a job. */
export const readJob = (id: string) => call<IngestJob>(`/dataprep/jobs/${id}`);
