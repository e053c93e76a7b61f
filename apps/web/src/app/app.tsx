import {
  Burger,
  Drawer,
  Loader,
  MantineProvider,
  Anchor,
  Button,
  Group,
  NativeSelect,
  NavLink,
  Stack,
  Text,
  createTheme,
  Modal,
  Tooltip,
} from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, type ReactElement } from 'react';
import { queryClient } from '../api/queries';
import { ChatPage } from '../chat/chat-page';
import { ConversationList } from '../chat/conversation-list';
import { startLanguage, useText, chooseLanguage, languages, useLanguage, type Language } from '../i18n/text';
import { MenuButton } from '../shared/components';
import {
  IconFiles,
  IconMessageCircle,
  IconActivity,
  IconPlug,
  IconPlus,
  IconTopologyStar3,
} from '../shared/icons';
import { useRoute, hrefOf, navigate, type Route } from '../shared/router';
import { ErrorBoundary } from './error-boundary';
import { KeyGate } from './key-gate';

const DocumentsPage = lazy(() => import('../documents/documents-page'));
const PipelinesPage = lazy(() => import('../pipelines/pipelines-page'));
const SystemPage = lazy(() => import('../system/system-page'));
const ConnectDrawer = lazy(() => import('../connect/connect-drawer'));

/** Colors and sizes of the app. The page itself never scrolls, so that a dialog does not need to lock its scrolling. */
const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    Modal: Modal.extend({ defaultProps: { lockScroll: false } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withArrow: true } }),
  },
});

/** The app: providers, the gate for the API key, and the page of the current route. */
export function App(): ReactElement {
  const [ready, setReady] = useState(false);
  useEffect(() => void startLanguage().finally(() => setReady(true)), []);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-center" />
        {ready && (
          <KeyGate>
            <Shell />
          </KeyGate>
        )}
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The nonce of the gateway for the inline styles of components. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

function Shell(): ReactElement {
  const t = useText();
  const route = useRoute();
  const wide = useMediaQuery('(min-width: 48em)', window.innerWidth >= 768, {
    getInitialValueInEffect: false,
  });
  const [opened, menu] = useDisclosure(false);
  const { close } = menu;
  const [connecting, connect] = useDisclosure(false);
  const sidebar = (
    <Sidebar
      route={route}
      connect={() => {
        close();
        connect.open();
      }}
    />
  );
  useEffect(close, [route.page, route.id, close]);
  const burger = wide ? null : (
    <Burger size="sm" opened={opened} onClick={menu.toggle} aria-label={t('menu')} />
  );
  return (
    <div className="shell">
      {wide ? (
        sidebar
      ) : (
        <Drawer
          opened={opened}
          onClose={menu.close}
          title={t('menu')}
          size="85%"
          classNames={{ content: 'menu', header: 'menu-head', body: 'drawer' }}
          closeButtonProps={{ 'aria-label': t('close') }}
        >
          {sidebar}
        </Drawer>
      )}
      <main className="page">
        <Suspense fallback={<Loader m="auto" aria-label={t('loading')} />}>
          <MenuButton value={burger}>
            <ErrorBoundary address={hrefOf(route)}>
              <Page {...route} />
            </ErrorBoundary>
          </MenuButton>
        </Suspense>
      </main>
      <Suspense>{connecting && <ConnectDrawer close={connect.close} />}</Suspense>
    </div>
  );
}

function Page({ page, id, passage, source }: Route): ReactElement {
  if (page === 'documents') return <DocumentsPage documentId={id} passage={passage} />;
  if (page === 'pipelines') return <PipelinesPage name={id} />;
  if (page === 'system') return <SystemPage />;
  return <ChatPage conversation={id} source={source} />;
}

const places = [
  { page: 'chat', Icon: IconMessageCircle },
  { page: 'documents', Icon: IconFiles },
  { page: 'pipelines', Icon: IconTopologyStar3 },
  { page: 'system', Icon: IconActivity },
] as const;

/** The sidebar: links to the pages, the conversations, how to connect other programs, and the language. */
function Sidebar({ route, connect }: { route: Route; connect: () => void }): ReactElement {
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
        {places.map(({ page, Icon }) => (
          <NavLink
            key={page}
            href={hrefOf({ page })}
            label={t(page)}
            leftSection={<Icon size={18} />}
            active={route.page === page}
          />
        ))}
      </nav>
      <Button variant="light" leftSection={<IconPlus size={16} />} onClick={() => navigate({ page: 'chat' })}>
        {t('newChat')}
      </Button>
      <ConversationList active={route.page === 'chat' ? route.id : undefined} />
      <Button variant="default" size="xs" leftSection={<IconPlug size={16} />} onClick={connect}>
        {t('connect')}
      </Button>
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
