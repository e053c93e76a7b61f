import { ActionIcon, Button, Menu, Modal, Text, TextInput } from '@mantine/core';
import { IconDots, IconPencil, IconSearch, IconTrash } from '../shared/icons';
import { useEffect, useState, type FormEvent, type ReactElement } from 'react';
import { VList } from 'virtua';
import { openai } from '../api/connection';
import { queryClient, useConversations, type Conversation } from '../api/queries';
import { hrefOf, navigate } from '../shared/router';
import { deleteWithUndo, hiddenIds, showError } from '../shared/toast';
import { useStored } from '../stored';
import { deleteStore, storesOf } from './attachment';
import { useText } from '../i18n/text';
import { titleOf } from './settings';

const hidden = hiddenIds('meganest-deleting');

/** The conversations, latest first, with a search over their titles. */
export function ConversationList({ active }: { active: string | undefined }): ReactElement {
  const t = useText();
  const [search, setSearch] = useState('');
  const [renamed, setRenamed] = useState<Conversation>();
  const gone = useStored(hidden);
  const { data, isSuccess, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } =
    useConversations();
  // A search covers all conversations, so that the remaining pages are read.
  const readMore = search !== '' && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (readMore) void fetchNextPage();
  }, [readMore, fetchNextPage]);
  const all = data?.pages.flatMap((page) => page.data).filter(({ id }) => !gone.includes(id)) ?? [];
  const shown = all.filter((one) => titleOf(one).toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <TextInput
        size="xs"
        type="search"
        leftSection={<IconSearch size={14} />}
        aria-label={t('searchConversations')}
        placeholder={t('searchConversations')}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <nav className="conversations" aria-label={t('conversations')}>
        {isSuccess && shown.length === 0 && !(search && hasNextPage) && (
          <Text size="sm" c="dimmed" p="xs">
            {search ? t('nothingFound') : t('noConversations')}
          </Text>
        )}
        <VList>
          {shown.map((conversation) => (
            <Listed
              key={conversation.id}
              conversation={conversation}
              active={conversation.id === active}
              rename={() => setRenamed(conversation)}
            />
          ))}
          {hasNextPage && (
            <Button variant="subtle" size="compact-sm" fullWidth onClick={() => void fetchNextPage()}>
              {t('more')}
            </Button>
          )}
        </VList>
      </nav>
      {renamed && <Rename conversation={renamed} close={() => setRenamed(undefined)} />}
    </>
  );
}

interface ListedProps {
  conversation: Conversation;
  active: boolean;
  rename: () => void;
}

function Listed({ conversation, active, rename }: ListedProps): ReactElement {
  const t = useText();
  const title = titleOf(conversation);
  const remove = () => {
    if (active) navigate({ page: 'chat' });
    deleteWithUndo(hidden, { id: conversation.id, name: title }, () => deleteConversation(conversation));
  };
  return (
    <div className="listed" data-active={active || undefined}>
      <a
        href={hrefOf({ page: 'chat', id: conversation.id })}
        title={title}
        aria-current={active ? 'page' : undefined}
      >
        {title}
      </a>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            mr={4}
            aria-label={t('actionsOf', { name: title })}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={14} />} onClick={rename}>
            {t('rename')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={remove}>
            {t('delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

async function deleteConversation(conversation: Conversation): Promise<void> {
  await openai().conversations.delete(conversation.id);
  await Promise.all(storesOf(conversation).map((store) => deleteStore(store).catch(() => undefined)));
  await queryClient.invalidateQueries({ queryKey: ['conversations'] });
}

function Rename({ conversation, close }: { conversation: Conversation; close: () => void }): ReactElement {
  const t = useText();
  const [title, setTitle] = useState(titleOf(conversation));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    close();
    await openai().conversations.update(conversation.id, { metadata: { title: title.trim() } });
    await queryClient.invalidateQueries({ queryKey: ['conversations'] });
  };
  return (
    <Modal opened onClose={close} title={t('rename')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form onSubmit={(event) => void submit(event).catch(showError)}>
        <TextInput
          data-autofocus
          label={t('title')}
          maxLength={200}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <Button type="submit" mt="md" disabled={title.trim() === ''}>
          {t('save')}
        </Button>
      </form>
    </Modal>
  );
}
