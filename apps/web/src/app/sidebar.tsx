import { Anchor, Button, Group, NativeSelect, NavLink, Stack, Text } from '@mantine/core';
import { IconFiles, IconMessageCircle, IconActivity, IconPlus, IconTopologyStar3 } from '../shared/icons';
import type { ReactElement } from 'react';
import { ConversationList } from '../chat/conversation-list';
import { chooseLanguage, languages, useLanguage, useText, type Language } from '../i18n/text';
import { hrefOf, navigate, type Route } from '../shared/router';

/** The pages, the conversations and the language. */
export function Sidebar({ route }: { route: Route }): ReactElement {
  const t = useText();
  return (
    <aside className="sidebar" aria-label={t('menu')}>
      <Group gap="xs" wrap="nowrap">
        <img src="./favicon.svg" alt="" width={28} height={28} />
        <Text fw={700} size="lg">
          MegaNest
        </Text>
      </Group>
      <nav aria-label={t('pages')}>
        <NavLink
          href={hrefOf({ page: 'chat' })}
          label={t('chat')}
          leftSection={<IconMessageCircle size={18} />}
          active={route.page === 'chat'}
        />
        <NavLink
          href={hrefOf({ page: 'documents' })}
          label={t('documents')}
          leftSection={<IconFiles size={18} />}
          active={route.page === 'documents'}
        />
        <NavLink
          href={hrefOf({ page: 'pipelines' })}
          label={t('pipelines')}
          leftSection={<IconTopologyStar3 size={18} />}
          active={route.page === 'pipelines'}
        />
        <NavLink
          href={hrefOf({ page: 'system' })}
          label={t('system')}
          leftSection={<IconActivity size={18} />}
          active={route.page === 'system'}
        />
      </nav>
      <Button variant="light" leftSection={<IconPlus size={16} />} onClick={() => navigate({ page: 'chat' })}>
        {t('newChat')}
      </Button>
      <ConversationList active={route.page === 'chat' ? route.id : undefined} />
      <Footer />
    </aside>
  );
}

function Footer(): ReactElement {
  const t = useText();
  const language = useLanguage();
  return (
    <Stack gap={6}>
      <NativeSelect
        size="xs"
        aria-label={t('language')}
        value={language}
        data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
        onChange={(event) => void chooseLanguage(event.currentTarget.value as Language)}
      />
      <Anchor href="./docs" target="_blank" size="xs">
        {t('apiReference')}
      </Anchor>
    </Stack>
  );
}
