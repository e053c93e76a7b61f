import {
  ActionIcon,
  Autocomplete,
  Badge,
  Button,
  Group,
  Progress,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconUpload, IconX } from '../shared/icons';
import { useRef, useState, type FormEvent, type ReactElement } from 'react';
import { useDropzone } from 'react-dropzone';
import { useCollections } from '../api/queries';
import { useStored } from '../stored';
import { showError } from '../shared/toast';
import { useText, type Key } from '../i18n/text';
import { removeUpload, uploadFiles, uploadLink, uploads, type Upload } from './uploads';

/** The area for dropped files, folders and links, with the progress of the uploads. */
export function UploadArea(): ReactElement {
  const t = useText();
  const [collection, setCollection] = useState('');
  const collections = useCollections().data ?? [];
  const folder = useRef<HTMLInputElement>(null);
  const send = (files: readonly File[]) => uploadFiles(files, collection.trim());
  const { getRootProps, getInputProps, isDragActive, open } = useDropzone({
    onDrop: send,
    noClick: true,
    noKeyboard: true,
  });
  return (
    <Stack gap="sm">
      <div {...getRootProps({ className: 'drop', 'data-over': isDragActive || undefined })}>
        <input {...getInputProps({ 'aria-label': t('chooseFiles') })} />
        <input
          ref={folder}
          type="file"
          hidden
          aria-label={t('chooseFolder')}
          {...{ webkitdirectory: '' }}
          onChange={({ currentTarget }) => {
            send([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <IconUpload size={28} aria-hidden />
        <Text fw={600}>{t('dropHere')}</Text>
        <Text size="sm" c="dimmed" mb="sm">
          {t('fileTypes')}
        </Text>
        <Group justify="center" gap="xs">
          <Button size="xs" onClick={open}>
            {t('chooseFiles')}
          </Button>
          <Button size="xs" variant="default" onClick={() => folder.current?.click()}>
            {t('chooseFolder')}
          </Button>
        </Group>
      </div>
      <Group align="flex-end" gap="sm">
        <LinkForm collection={collection.trim()} />
        <Autocomplete
          size="sm"
          label={t('intoCollection')}
          placeholder="default"
          maxLength={128}
          data={collections}
          value={collection}
          onChange={setCollection}
        />
      </Group>
      <UploadList />
    </Stack>
  );
}

function LinkForm({ collection }: { collection: string }): ReactElement {
  const t = useText();
  const [link, setLink] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    uploadLink(link.trim(), collection);
    setLink('');
  };
  return (
    <form onSubmit={submit} className="grow">
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          size="sm"
          flex={1}
          type="url"
          label={t('link')}
          placeholder="https://"
          value={link}
          onChange={(event) => setLink(event.currentTarget.value)}
        />
        <Button size="sm" type="submit" variant="default" disabled={!URL.canParse(link.trim())}>
          {t('addLink')}
        </Button>
      </Group>
    </form>
  );
}

function UploadList(): ReactElement | null {
  const t = useText();
  const list = useStored(uploads);
  if (list.length === 0) return null;
  const ended = list.filter(({ state }) => state === 'done' || state === 'failed' || state === 'cancelled');
  return (
    <section aria-label={t('uploads')} className="uploads">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {t('uploads')}
        </Text>
        {ended.length > 0 && (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => uploads.update((all) => all.filter((upload) => !ended.includes(upload)))}
          >
            {t('clearList')}
          </Button>
        )}
      </Group>
      {list.map((upload) => (
        <Row key={upload.id} upload={upload} />
      ))}
    </section>
  );
}

const colors: Partial<Record<Upload['state'], string>> = { done: 'green', failed: 'red', cancelled: 'gray' };

function Row({ upload }: { upload: Upload }): ReactElement {
  const t = useText();
  const { name, state, share, error, outcome } = upload;
  const running = state === 'sending' || state === 'working' || state === 'waiting';
  return (
    <div className="upload" data-state={state}>
      <Group wrap="nowrap" gap="sm">
        <Text size="sm" className="name" flex={1} title={name}>
          {name}
        </Text>
        <Badge variant="dot" color={colors[state] ?? 'indigo'}>
          {stateText(upload)}
        </Badge>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={running ? t('cancelUpload', { name }) : t('dismiss', { name })}
          onClick={() => void removeUpload(upload).catch(showError)}
        >
          <IconX size={14} />
        </ActionIcon>
      </Group>
      {running && <Progress value={share * 100} size="sm" mt={4} aria-label={t('progressOf', { name })} />}
      {(outcome === 'replaced' || outcome === 'unchanged') && (
        <Text size="sm" c="dimmed">
          {t(`outcome-${outcome}`)}
        </Text>
      )}
      {error && (
        <Text size="sm" c="red" role="alert">
          {error === 'interrupted' ? t('interrupted') : error}
        </Text>
      )}
    </div>
  );

  function stateText({ state, stage }: Upload): string {
    const key = state === 'working' && stage ? `stage-${stage}` : `state-${state}`;
    return t(key as Key);
  }
}
