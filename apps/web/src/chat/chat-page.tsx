import { Loader } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { useDropzone } from 'react-dropzone';
import { openai } from '../api/openai';
import { itemsKey, queryClient, readItems, useConversation, useItems } from '../api/queries';
import { navigate } from '../shared/router';
import { Failure } from '../shared/failure';
import { showError } from '../shared/toast';
import { text, useText } from '../i18n/text';
import { DocumentView, type Opened } from '../documents/document-view';
import { attached, storesOf, useAttachment, type Attachment } from './attachment';
import { ChatBar } from './chat-bar';
import { Composer } from './composer';
import { runs, useRun, withRun } from './runs';
import { askOf, readLanguageModel, readModel, titleOf } from './settings';
import { toTurns, type Turn } from './turns';
import { TurnList } from './turn-list';
import { Welcome } from './welcome';

runs.onEnd = async (conversation) => {
  queryClient.setQueryData(itemsKey(conversation), await readItems(conversation));
};

/** A conversation, or the beginning of a new one. */
export function ChatPage({
  conversation,
  burger,
}: {
  conversation: string | undefined;
  burger: ReactElement | null;
}): ReactElement {
  const t = useText();
  const items = useItems(conversation);
  const run = useRun(conversation);
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => {
    if (conversation) void runs.resume(conversation);
  }, [conversation]);
  const stored = useMemo(() => toTurns(items.data ?? []), [items.data]);
  const turns = useMemo(() => withRun(stored, run), [stored, run]);
  const files = useAttachment(conversation);
  const { attachment } = files;
  const chat = useChat(conversation, turns, files);
  const add = (chosen: readonly File[]) => void files.add(chosen).catch(showError);
  const { getRootProps, getInputProps, isDragActive, open } = useDropzone({
    onDrop: add,
    noClick: true,
    noKeyboard: true,
  });
  const busy = run?.turn.state === 'queued' || run?.turn.state === 'running';
  const known = useConversation(conversation);
  const title = known ? titleOf(known) : t('newChat');
  const openPassage = useCallback(
    (passage: Opened) => setOpened({ ...passage, stores: storesOf(known) }),
    [known],
  );
  return (
    <div {...getRootProps({ className: 'chat', 'data-over': isDragActive || undefined })}>
      <input {...getInputProps({ 'aria-label': t('attach') })} />
      {isDragActive && <div className="chat-drop">{t('dropInChat')}</div>}
      <ChatBar title={title} conversation={conversation} turns={turns} burger={burger} />
      <div className="body">
        {items.isLoading && <Loader m="lg" aria-label={t('loading')} />}
        {items.isError && <Failure m="lg" error={items.error} retry={() => void items.refetch()} />}
        {turns.length === 0 && !items.isLoading && !items.isError && <Welcome ask={chat.ask} />}
        {turns.length > 0 && <TurnList turns={turns} busy={busy} again={chat.again} open={openPassage} />}
      </div>
      <Composer
        key={conversation ?? 'new'}
        conversation={conversation ?? 'new'}
        busy={busy}
        attachment={attachment}
        attach={open}
        detach={() => void files.remove().catch(showError)}
        ask={chat.ask}
        stop={() => void (conversation && runs.stop(conversation).catch(showError))}
      />
      {opened && <DocumentView opened={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

/** Asks questions, the first one in a new conversation. */
function useChat(
  conversation: string | undefined,
  turns: readonly Turn[],
  { attachment, handOver }: ReturnType<typeof useAttachment>,
) {
  const start = async (question: string) => {
    const store = attachment?.state === 'ready' ? attachment.store : undefined;
    const model = await (store ? readLanguageModel() : readModel());
    if (!model) throw new Error(text('noModel'));
    const id = conversation ?? (await createConversation(question, attachment));
    await runs.settled(id);
    const last = queryClient.getQueryData<{ id?: string }[]>(itemsKey(id))?.at(-1)?.id ?? '';
    void runs.start(id, question, last, askOf(model, store));
    if (conversation) return;
    handOver();
    navigate({ page: 'chat', id });
  };
  // The turns of a long conversation are not shown again because a function is another one.
  const latest = useRef({ start, repeat });
  useEffect(() => {
    latest.current = { start, repeat };
  });
  return useMemo(
    () => ({
      ask: (question: string) => void latest.current.start(question).catch(showError),
      /** Asks a question of the conversation again, in other words perhaps; what came after it goes. */
      again: (turn: Turn, question: string) => void latest.current.repeat(turn, question).catch(showError),
    }),
    [],
  );

  async function repeat(turn: Turn, question: string): Promise<void> {
    if (!conversation) return;
    await runs.settled(conversation);
    const position = turns.findIndex(({ id }) => id === turn.id);
    const gone = turns.slice(position).flatMap(({ itemIds }) => itemIds);
    runs.drop(conversation);
    await Promise.all(
      gone.map((id) => openai().conversations.items.delete(id, { conversation_id: conversation })),
    );
    queryClient.setQueryData(itemsKey(conversation), await readItems(conversation));
    await start(question);
  }
}

async function createConversation(question: string, attachment: Attachment | undefined): Promise<string> {
  const title = question.replaceAll(/\s+/g, ' ').trim().slice(0, 80);
  const { name, store } = attachment ?? {};
  const files = name && store ? attached(name, [store]) : {};
  const { id } = await openai().conversations.create({ metadata: { title, ...files } });
  queryClient.setQueryData(itemsKey(id), []);
  await queryClient.invalidateQueries({ queryKey: ['conversations'] });
  return id;
}
