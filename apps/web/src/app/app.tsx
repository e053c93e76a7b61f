import { Burger, Drawer, Loader, MantineProvider } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, type ReactElement } from 'react';
import { queryClient } from '../api/queries';
import { ChatPage } from '../chat/chat-page';
import { startLanguage, useText } from '../i18n/text';
import { KeyGate } from './key-gate';
import { useRoute, type Route } from '../shared/router';
import { Sidebar } from './sidebar';
import { styleNonce, theme } from './theme';

const DocumentsPage = lazy(() => import('../documents/documents-page'));
const PipelinesPage = lazy(() => import('../pipelines/pipelines-page'));
const SystemPage = lazy(() => import('../system/system-page'));

/** The app: providers, the gate for a key, and the page that the address names. */
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

function Shell(): ReactElement {
  const t = useText();
  const route = useRoute();
  const wide = useMediaQuery('(min-width: 48em)', window.innerWidth >= 768, {
    getInitialValueInEffect: false,
  });
  const [opened, menu] = useDisclosure(false);
  const { close } = menu;
  useEffect(close, [route.page, route.id, close]);
  const burger = wide ? null : (
    <Burger size="sm" opened={opened} onClick={menu.toggle} aria-label={t('menu')} />
  );
  return (
    <div className="shell">
      {wide ? (
        <Sidebar route={route} />
      ) : (
        <Drawer
          opened={opened}
          onClose={menu.close}
          title={t('menu')}
          size="85%"
          classNames={{ body: 'drawer' }}
          closeButtonProps={{ 'aria-label': t('close') }}
        >
          <Sidebar route={route} />
        </Drawer>
      )}
      <main className="page">
        <Suspense fallback={<Loader m="auto" aria-label={t('loading')} />}>
          <Page route={route} burger={burger} />
        </Suspense>
      </main>
    </div>
  );
}

function Page({ route, burger }: { route: Route; burger: ReactElement | null }): ReactElement {
  if (route.page === 'documents') return <DocumentsPage burger={burger} documentId={route.id} />;
  if (route.page === 'pipelines') return <PipelinesPage burger={burger} name={route.id} />;
  if (route.page === 'system') return <SystemPage burger={burger} />;
  return <ChatPage conversation={route.id} burger={burger} />;
}
