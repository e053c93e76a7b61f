import { Loader, Anchor, SimpleGrid, Text, Title, UnstyledButton } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, type ReactElement } from 'react';
import { useDropzone } from 'react-dropzone';
import { VList } from 'virtua';
import { openai } from '../api/connection';
import { itemsKey, queryClient, readItems, useConversation, useItems, useDocuments } from '../api/queries';
import { DocumentView } from '../documents/document-view';
import { text, useText, type Key } from '../i18n/text';
import { Failure, IconButton } from '../shared/components';
import { IconArrowDown } from '../shared/icons';
import { closeSource, hrefOf, navigate, openSource, type Source } from '../shared/router';
import { showError } from '../shared/toast';
import { WarningNotice } from '../shared/warning-notice';
import { attached, storesOf, useAttachment, type Attachment } from './attachment';
import { ChatBar } from './chat-bar';
import { Composer } from './composer';
import { runs, useRun, withRun } from './runs';
import { askOf, readLanguageModel, readModel, returnDraft, titleOf } from './settings';
import { useFollowing } from './following';
import { TurnView } from './turn-view';
import { toTurns, type Turn } from './turns';

runs.onEnd = async (conversation) => {
  queryClient.setQueryData(itemsKey(conversation), await readItems(conversation));
};

interface ChatPageProps {
  conversation: string | undefined;
  /** The source that is open, from the address. */
  source: Source | undefined;
}

/** The page of a conversation, or of a new one. */
export function ChatPage({ conversation, source }: ChatPageProps): ReactElement {
  const t = useText();
  const items = useItems(conversation);
  const run = useRun(conversation);
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
    (passage: Source) => conversation && openSource(conversation, passage),
    [conversation],
  );
  return (
    <div {...getRootProps({ className: 'chat', 'data-over': isDragActive || undefined })}>
      <input {...getInputProps({ 'aria-label': t('attach') })} />
      {isDragActive && <div className="chat-drop">{t('dropInChat')}</div>}
      <ChatBar title={title} conversation={conversation} turns={turns} />
      <WarningNotice />
      <div className="body">
        {items.isLoading && <Loader m="lg" aria-label={t('loading')} />}
        {items.isError && <Failure m="lg" error={items.error} retry={() => void items.refetch()} />}
        {turns.length === 0 && !items.isLoading && !items.isError && <Welcome ask={chat.ask} />}
        {turns.length > 0 && (
          <TurnList key={conversation} turns={turns} busy={busy} again={chat.again} open={openPassage} />
        )}
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
      {conversation && source && (
        <DocumentView
          opened={{ ...source, stores: storesOf(known) }}
          onClose={() => closeSource(conversation)}
        />
      )}
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
  // Stable functions, so that the turns of a long conversation do not render again.
  const latest = useRef({ start, repeat });
  useEffect(() => {
    latest.current = { start, repeat };
  });
  return useMemo(
    () => ({
      /** Asks a question. A question that cannot be asked, for example offline, returns to the question field. */
      ask: (question: string) =>
        void latest.current.start(question).catch((error: unknown) => {
          returnDraft(conversation ?? 'new', question);
          showError(error);
        }),
      /** Asks a question again, possibly edited. Later turns are deleted. */
      again: (turn: Turn, question: string) => void latest.current.repeat(turn, question).catch(showError),
    }),
    [conversation],
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

/** The turns of a conversation. Only visible turns are rendered. The list follows its end while the answer grows. */
function TurnList({
  turns,
  busy,
  again,
  open,
}: {
  turns: readonly Turn[];
  busy: boolean;
  again: (turn: Turn, question: string) => void;
  open: (opened: Source) => void;
}): ReactElement {
  const t = useText();
  const { away, toEnd, onScroll, watch } = useFollowing(turns, busy);
  return (
    <div className="turns" {...watch}>
      <VList
        className="rows"
        onScroll={onScroll}
        role="log"
        aria-label={t('conversation')}
        aria-busy={busy}
        tabIndex={0}
      >
        {turns.map((turn, index) => (
          <div key={turn.id} className="column">
            <TurnView turn={turn} last={index === turns.length - 1} busy={busy} again={again} open={open} />
          </div>
        ))}
      </VList>
      {away && (
        <IconButton
          className="to-end"
          variant="default"
          radius="xl"
          size="lg"
          label={t('toEnd')}
          onClick={toEnd}
        >
          <IconArrowDown size={18} />
        </IconButton>
      )}
    </div>
  );
}

/** Example questions for the sample documents, which the first start of MegaNest ingests. */
const samples: readonly Key[] = ['sampleDies', 'sampleMegaService', 'sampleScale', 'sampleBackup'];

/** The content of a new conversation: example questions, or a link to add the first document. */
function Welcome({ ask }: { ask: (question: string) => void }): ReactElement {
  const t = useText();
  const { data, isSuccess } = useDocuments(null, '');
  const documents = data?.pages[0] ?? [];
  const hasSamples = documents.some(({ name }) => name === 'operations.md');
  return (
    <div className="scroll">
      <div className="column welcome">
        <img src="./favicon.svg" alt="" width={56} height={56} />
        <Title order={2} mt="md">
          {t('welcome')}
        </Title>
        <Text c="dimmed" mt={4} mb="xl">
          {isSuccess && documents.length === 0 ? t('welcomeEmpty') : t('welcomeText')}{' '}
          <Anchor href={hrefOf({ page: 'documents' })}>{t('addDocuments')}</Anchor>
        </Text>
        {hasSamples && (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {samples.map((sample) => (
              <UnstyledButton key={sample} className="sample" onClick={() => ask(t(sample))}>
                {t(sample)}
              </UnstyledButton>
            ))}
          </SimpleGrid>
        )}
      </div>
    </div>
  );
}
