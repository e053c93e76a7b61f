import { useState } from 'react';
import { call, messageOf, openai } from '../api/connection';
import { queryClient, useConversation, type Conversation } from '../api/queries';
import { joined, drafts, setDraft } from './settings';

/** Files of a conversation, in a separate vector store. */
export interface Attachment {
  name: string;
  state: 'reading' | 'ready' | 'failed';
  /** Id of the vector store, after the files have been read. */
  store?: string;
  error?: string;
}

/** Limit for the characters of a metadata value. */
const maxNameLength = 512;
/** Number of vector store ids that fit into a metadata value. */
const maxStores = 12;
const audioNames = /\.(wav|mp3|flac|og[ga]|opus|webm|m4a|mp4)$/i;

/** Whether a file is audio, which is transcribed. */
export function isAudio({ name, type }: Pick<File, 'name' | 'type'>): boolean {
  return type.startsWith('audio/') || audioNames.test(name);
}

/** The attached files of a conversation, which replace the documents, and functions to attach and detach them. */
export function useAttachment(conversation: string | undefined): {
  attachment: Attachment | undefined;
  add: (files: readonly File[]) => Promise<void>;
  remove: () => Promise<void>;
  /** Called when a new conversation has taken over the file. The next new conversation begins without it. */
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
      .slice(0, maxNameLength);
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
    // The store stays until the conversation is deleted, so that citations can still be opened.
    else if (conversation && !local) await setMetadata(conversation, { file: null });
  };
  return { attachment: local ?? kept, add, remove, handOver: () => setOwn(undefined) };
}

/** Ids of the vector stores of a conversation. The last one is searched while the metadata contain a file. */
export function storesOf(conversation: Conversation | undefined): string[] {
  return (conversation?.metadata['stores'] ?? '').split(' ').filter(Boolean);
}

/** Metadata of a conversation with attached files. */
export function attached(file: string, stores: readonly string[]): { file: string; stores: string } {
  return { file, stores: stores.slice(-maxStores).join(' ') };
}

/** Transcribes an audio file into the draft. */
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
  // The gateway merges metadata and removes keys with the value null.
  await call(`/conversations/${id}`, { metadata });
  await queryClient.invalidateQueries({ queryKey: ['conversations'] });
}
