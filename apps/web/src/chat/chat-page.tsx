import { Alert, Loader } from '@mantine/core';
import { useEffect, useState, type ReactElement } from 'react';
import { messageOf } from '../api/connection';
import { openai } from '../api/openai';
import { itemsKey, queryClient, readItems, useConversations, useItems } from '../api/queries';
import { navigate } from '../app/router';
import { showError } from '../app/toast';
import { text, useText } from '../i18n/text';
import { DocumentView, type Opened } from '../documents/document-view';
import { ChatBar } from './chat-bar';
import { Composer } from './composer';
import { runs, useRun, withRun } from './runs';
import { askOf, readModel, titleOf } from './settings';
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
  const turns = withRun(toTurns(items.data ?? []), run);
  const chat = useChat(conversation, turns);
  const busy = run?.turn.state === 'queued' || run?.turn.state === 'running';
  const title = useTitle(conversation) ?? t('newChat');
  return (
    <>
      <ChatBar title={title} conversation={conversation} turns={turns} burger={burger} />
      <div className="body">
        {items.isLoading && <Loader m="lg" aria-label={t('loading')} />}
        {items.isError && (
          <Alert m="lg" color="red" title={t('failed')}>
            {messageOf(items.error)}
          </Alert>
        )}
        {turns.length === 0 && !items.isLoading && !items.isError && <Welcome ask={chat.ask} />}
        {turns.length > 0 && <TurnList turns={turns} busy={busy} again={chat.again} open={setOpened} />}
      </div>
      <Composer
        key={conversation ?? 'new'}
        busy={busy}
        ask={chat.ask}
        stop={() => void (conversation && runs.stop(conversation).catch(showError))}
      />
      {opened && <DocumentView opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function useTitle(conversation: string | undefined): string | undefined {
  const { data } = useConversations();
  const known = data?.pages.flatMap((page) => page.data).find(({ id }) => id === conversation);
  return known && titleOf(known);
}

/** Asks questions, the first one in a new conversation. */
function useChat(conversation: string | undefined, turns: readonly Turn[]) {
  const start = async (question: string, known: readonly Turn[]) => {
    const model = await readModel();
    if (!model) throw new Error(text('noModel'));
    const id = conversation ?? (await createConversation(question));
    void runs.start(id, question, known.at(-1)?.itemIds.at(-1) ?? '', askOf(model));
    if (!conversation) navigate({ page: 'chat', id });
  };
  return {
    ask: (question: string) => void start(question, turns).catch(showError),
    /** Asks a question of the conversation again, in other words perhaps; what came after it goes. */
    again: (turn: Turn, question: string) => void repeat(turn, question).catch(showError),
  };

  async function repeat(turn: Turn, question: string): Promise<void> {
    if (!conversation) return;
    const position = turns.findIndex(({ id }) => id === turn.id);
    const gone = turns.slice(position).flatMap(({ itemIds }) => itemIds);
    runs.drop(conversation);
    await Promise.all(
      gone.map((id) => openai().conversations.items.delete(id, { conversation_id: conversation })),
    );
    queryClient.setQueryData(itemsKey(conversation), await readItems(conversation));
    await start(question, turns.slice(0, position));
  }
}

async function createConversation(question: string): Promise<string> {
  const title = question.replaceAll(/\s+/g, ' ').trim().slice(0, 80);
  const { id } = await openai().conversations.create({ metadata: { title } });
  queryClient.setQueryData(itemsKey(id), []);
  await queryClient.invalidateQueries({ queryKey: ['conversations'] });
  return id;
}
