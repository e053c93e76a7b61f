import { useState } from 'react';
import { call, messageOf, openai } from '../api/connection';
import { queryClient, useConversation, type Conversation } from '../api/queries';
import { joined, drafts, setDraft } from './settings';

/** Files that a conversation asks about, in a vector store of their own. */
export interface Attachment {
  name: string;
  state: 'reading' | 'ready' | 'failed';
  /** The vector store, when it has been read. */
  store?: string;
  error?: string;
}

/** Longest value of a conversation's metadata. */
const longestName = 512;
/** As many identifiers as a value of the metadata holds. */
const mostStores = 12;
const audioNames = /\.(wav|mp3|flac|og[ga]|opus|webm|m4a|mp4)$/i;

/** Whether a file is heard in place of being read. */
export function isAudio({ name, type }: Pick<File, 'name' | 'type'>): boolean {
  return type.startsWith('audio/') || audioNames.test(name);
}

/** What a conversation asks about in place of the documents, and how files are added and taken away. */
export function useAttachment(conversation: string | undefined): {
  attachment: Attachment | undefined;
  add: (files: readonly File[]) => Promise<void>;
  remove: () => Promise<void>;
  /** Called when a new conversation has taken the file over: the next one begins without it. */
  handOver: () => void;
} {
  const [own, setOwn] = useState<Attachment & { of: string | undefined }>();
  const known = useConversation(conversation);
  const stores = storesOf(known);
  const store = stores.at(-1);
  const file = known?.metadata['file'];
  const local = own?.of === conversation ? own : undefined;
  const kept = store && file ? { name: file, state: 'ready' as const, store } : undefined;

  const add = async (files: readonly File[]): Promise<void> => {
    const heard = files.filter(isAudio);
    const read = files.filter((one) => !isAudio(one));
    for (const one of heard) await transcribe(one, conversation ?? 'new');
    if (read.length === 0) return;
    const name = read
      .map((one) => one.name)
      .join(', ')
      .slice(0, longestName);
    setOwn({ of: conversation, name, state: 'reading' });
    try {
      const made = await makeStore(read, name);
      if (conversation) {
        await setMetadata(conversation, attached(name, [...stores, made]));
        setOwn(undefined);
      } else setOwn({ of: conversation, name, state: 'ready', store: made });
    } catch (error) {
      setOwn({ of: conversation, name, state: 'failed', error: messageOf(error) });
    }
  };
  const remove = async (): Promise<void> => {
    setOwn(undefined);
    if (local?.store) await deleteStore(local.store);
    // What was cited in the conversation can still be opened: the store goes with the conversation.
    else if (conversation && !local) await setMetadata(conversation, { file: null });
  };
  return { attachment: local ?? kept, add, remove, handOver: () => setOwn(undefined) };
}

/** The vector stores of a conversation; the last one is searched while its metadata name a file. */
export function storesOf(conversation: Conversation | undefined): string[] {
  return (conversation?.metadata['stores'] ?? '').split(' ').filter(Boolean);
}

/** The metadata of a conversation that asks about files. */
export function attached(file: string, stores: readonly string[]): { file: string; stores: string } {
  return { file, stores: stores.slice(-mostStores).join(' ') };
}

/** Writes down what is said in a file, into the draft. */
async function transcribe(file: File, conversation: string): Promise<void> {
  const form = new FormData();
  form.append('file', file, file.name);
  const { text } = await call<{ text: string }>('/audio/transcriptions', form);
  setDraft(conversation, joined(drafts.get()[conversation] ?? '', text));
}

async function makeStore(files: readonly File[], name: string): Promise<string> {
  const { vectorStores } = openai();
  const { id } = await vectorStores.create({ name });
  try {
    for (const file of files) {
      const { status, last_error } = await vectorStores.files.uploadAndPoll(id, file, {
        pollIntervalMs: 300,
      });
      if (status !== 'completed') throw new Error(last_error?.message ?? status);
    }
    return id;
  } catch (error) {
    await deleteStore(id).catch(() => undefined);
    throw error;
  }
}

/** Deletes a vector store with its files. */
export async function deleteStore(id: string): Promise<void> {
  const { vectorStores, files } = openai();
  const attached: string[] = [];
  for await (const file of vectorStores.files.list(id, { limit: 100 })) attached.push(file.id);
  await vectorStores.delete(id);
  await Promise.all(attached.map((file) => files.delete(file)));
}

async function setMetadata(id: string, metadata: Record<string, string | null>): Promise<void> {
  // The gateway merges metadata, and takes away what is null.
  await call(`/conversations/${id}`, { metadata });
  await queryClient.invalidateQueries({ queryKey: ['conversations'] });
}
