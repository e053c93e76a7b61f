import {
  Anchor,
  Button,
  Code,
  CopyButton,
  Drawer,
  Group,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { apiKey, apiUrl } from '../api/connection';
import { useModel } from '../chat/settings';
import { useText } from '../i18n/text';
import { IconButton } from '../shared/components';
import { IconEye, IconEyeOff } from '../shared/icons';
import { useStored } from '../stored';
import { snippetsOf, type Snippet } from './snippets';

/** Address of the gateway without a slash at the end. */
const address = new URL('.', document.baseURI).href.replace(/\/$/, '');
/** In place of a hidden key. */
const dots = '••••••••';

/** How to reach this gateway from other programs: its address, the caller's key, and snippets to paste. */
export default function ConnectDrawer({ close }: { close: () => void }): ReactElement {
  const t = useText();
  const key = useStored(apiKey);
  const model = useModel() ?? 'chatqna';
  const [shown, setShown] = useState(false);
  const [client, setClient] = useState(0);
  // A gateway without keys accepts any key, and most clients demand one.
  const snippets = (visible: string) => snippetsOf({ address, key: visible, model });
  const full = snippets(key ?? 'none');
  const visible = snippets(key === null ? 'none' : shown ? key : dots);
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="lg"
      title={t('connect')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {t('connectText')}
        </Text>
        <Field label={t('connectOpenAi')} value={apiUrl} />
        <Field label={t('connectOthers')} value={address} />
        {key === null ? (
          <Text size="sm">{t('connectNoKey')}</Text>
        ) : (
          <Field label={t('key')} value={key} shown={shown} toggle={() => setShown(!shown)} />
        )}
        <NativeSelect
          label={t('connectClient')}
          value={client}
          data={full.map((snippet, index) => ({ value: `${index}`, label: snippet.client }))}
          onChange={(event) => setClient(Number(event.currentTarget.value))}
        />
        <Shown snippet={visible[client]} copied={full[client]?.code ?? ''} />
        <Anchor href="./docs" target="_blank" size="sm">
          {t('apiReference')}
        </Anchor>
      </Stack>
    </Drawer>
  );
}

/** A value with a button that copies it. A hidden value is copied whole; `toggle` shows and hides it. */
function Field({
  label,
  value,
  shown = true,
  toggle,
}: {
  label: string;
  value: string;
  shown?: boolean;
  toggle?: () => void;
}): ReactElement {
  const t = useText();
  const Eye = shown ? IconEyeOff : IconEye;
  return (
    <Group align="end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={shown ? value : dots}
        readOnly
        flex={1}
        rightSection={
          toggle && (
            <IconButton label={shown ? t('keyHide') : t('keyShow')} onClick={toggle}>
              <Eye size={18} />
            </IconButton>
          )
        }
      />
      <Copy value={value} of={label} />
    </Group>
  );
}

function Shown({ snippet, copied }: { snippet: Snippet | undefined; copied: string }): ReactElement | null {
  const t = useText();
  if (!snippet) return null;
  return (
    <section aria-label={snippet.client}>
      {snippet.file && (
        <Text size="sm" mb={4}>
          {t('connectFile', { file: snippet.file })}
        </Text>
      )}
      <Code block tabIndex={0} mb="xs">
        {snippet.code}
      </Code>
      <Copy value={copied} of={snippet.client} />
    </section>
  );
}

function Copy({ value, of }: { value: string; of: string }): ReactElement {
  const t = useText();
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button variant="light" flex="none" onClick={copy} aria-label={t('copyOf', { name: of })}>
          {copied ? t('copied') : t('copyShort')}
        </Button>
      )}
    </CopyButton>
  );
}
