import { Button, Center, Loader, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react';
import { ApiError, apiKey, call, keyRefused, messageOf } from '../api/connection';
import { queryClient } from '../api/queries';
import { useText } from '../i18n/text';
import { useStored } from '../stored';

/** Asks for the API key until the gateway accepts it, then shows the app. */
export function KeyGate({ children }: { children: ReactNode }): ReactNode {
  const t = useText();
  const refused = useStored(keyRefused);
  const key = useStored(apiKey);
  const check = useQuery({
    queryKey: ['key', key],
    queryFn: async () => {
      await call('/models');
      keyRefused.set(false);
      return true;
    },
    staleTime: Infinity,
    retry: (count, error) => !(error instanceof ApiError && error.status === 401) && count < 3,
  });
  if (check.isPending)
    return (
      <Center h="100dvh">
        <Loader aria-label={t('loading')} />
      </Center>
    );
  if (refused) return <KeyForm wrong={key !== null} />;
  if (check.isError) return <Unreachable error={check.error} retry={() => void check.refetch()} />;
  return children;
}

function Unreachable({ error, retry }: { error: unknown; retry: () => void }): ReactElement {
  const t = useText();
  return (
    <Center h="100dvh" p="md" component="main">
      <Stack maw={420}>
        <Title order={1} size="h3">
          {t('unreachable')}
        </Title>
        <Text>{messageOf(error)}</Text>
        <Button onClick={retry}>{t('retry')}</Button>
      </Stack>
    </Center>
  );
}

function KeyForm({ wrong }: { wrong: boolean }): ReactElement {
  const t = useText();
  const [value, setValue] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    keyRefused.set(false);
    apiKey.set(value.trim());
    void queryClient.resetQueries({ queryKey: ['key'] });
  };
  return (
    <Center h="100dvh" p="md" component="main">
      <Paper withBorder p="xl" maw={420} w="100%">
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h2">
              MegaNest
            </Title>
            <Text>{t('keyNeeded')}</Text>
            <PasswordInput
              label={t('key')}
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              error={wrong ? t('keyWrong') : undefined}
              autoComplete="off"
              data-autofocus
              visibilityToggleButtonProps={{ 'aria-label': t('keyShow') }}
            />
            <Button type="submit" disabled={value.trim() === ''}>
              {t('keyEnter')}
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
