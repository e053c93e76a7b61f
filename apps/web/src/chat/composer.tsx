import { Alert, Group, Loader, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import { useText } from '../i18n/text';
import { IconButton } from '../shared/components';
import {
  IconArrowUp,
  IconFileText,
  IconPaperclip,
  IconPlayerStopFilled,
  IconX,
  IconMicrophone,
} from '../shared/icons';
import { showError } from '../shared/toast';
import { useStored } from '../stored';
import type { Attachment } from './attachment';
import { SearchedCollection } from './searched-collection';
import { drafts, setDraft, joined } from './settings';
import type { Dictation } from './voice/dictation';

interface ComposerProps {
  /** Id of the conversation, or `new`. */
  conversation: string;
  busy: boolean;
  attachment: Attachment | undefined;
  attach: () => void;
  detach: () => void;
  ask: (question: string) => void;
  stop: () => void;
}

/** The input for questions. Enter sends; Shift and Enter begin a new line. */
export function Composer(props: ComposerProps): ReactElement {
  const { conversation, busy, attachment, attach, ask, stop } = props;
  const t = useText();
  const value = useStored(drafts)[conversation] ?? '';
  const mayAsk = value.trim() !== '' && attachment?.state !== 'reading';
  const send = () => {
    if (!mayAsk || busy) return;
    setDraft(conversation, '');
    ask(value.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isSend(event)) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="composer">
      <div className="column">
        <Attached {...props} />
        {!attachment && <SearchedCollection />}
        <form
          className="composer-box"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <IconButton size={36} radius="xl" label={t('attach')} onClick={attach}>
            <IconPaperclip size={20} />
          </IconButton>
          <Textarea
            variant="unstyled"
            flex={1}
            autosize
            maxRows={8}
            autoFocus
            aria-label={t('question')}
            placeholder={t('askPlaceholder')}
            value={value}
            onChange={(event) => setDraft(conversation, event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <Microphone conversation={conversation} />
          <SendOrStop busy={busy} mayAsk={mayAsk} stop={stop} />
        </form>
      </div>
    </div>
  );
}

/** Whether a key sends the question: Enter without Shift, unless it ends the composition of an input method. */
export function isSend({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing;
}

/** The button that sends the question, or stops the current answer. */
function SendOrStop({
  busy,
  mayAsk,
  stop,
}: Pick<ComposerProps, 'busy' | 'stop'> & { mayAsk: boolean }): ReactElement {
  const t = useText();
  if (busy)
    return (
      <IconButton size={36} radius="xl" color="red" variant="filled" label={t('stop')} onClick={stop}>
        <IconPlayerStopFilled size={18} />
      </IconButton>
    );
  return (
    <IconButton
      size={36}
      radius="xl"
      color={undefined}
      variant="filled"
      label={t('send')}
      type="submit"
      disabled={!mayAsk}
    >
      <IconArrowUp size={20} />
    </IconButton>
  );
}

/** The attached files, which replace the documents. */
function Attached({ attachment, detach }: ComposerProps): ReactElement | null {
  const t = useText();
  if (!attachment) return null;
  const { name, state, error } = attachment;
  if (state === 'failed')
    return (
      <Alert
        color="red"
        p="xs"
        mb="xs"
        title={t('fileFailed', { name })}
        withCloseButton
        closeButtonLabel={t('close')}
        onClose={detach}
        role="alert"
      >
        {error}
      </Alert>
    );
  return (
    <Group className="attached" gap="xs" wrap="nowrap" mb="xs" role="status">
      {state === 'reading' ? <Loader size="xs" aria-hidden /> : <IconFileText size={16} aria-hidden />}
      <Text size="sm" className="name">
        {state === 'reading' ? t('fileReading', { name }) : t('fileAlone', { name })}
      </Text>
      {state === 'ready' && (
        <IconButton size="sm" label={t('fileRemove', { name })} onClick={detach}>
          <IconX size={14} />
        </IconButton>
      )}
    </Group>
  );
}

/** The button for dictation into the draft. Browsers allow the microphone over HTTPS and on localhost only. */
function Microphone({ conversation }: { conversation: string }): ReactElement | null {
  const t = useText();
  const [state, setState] = useState<'off' | 'on' | 'ending'>('off');
  const running = useRef<Dictation>(undefined);
  useEffect(() => () => running.current?.close(), []);
  if (!('mediaDevices' in navigator)) return null;
  const start = async () => {
    const { Dictation } = await import('./voice/dictation');
    const before = drafts.get()[conversation] ?? '';
    const dictation = new Dictation((said) => setDraft(conversation, joined(before, said)));
    running.current = dictation;
    setState('on');
    await dictation.ended;
  };
  const toggle = () => {
    if (state === 'on') {
      setState('ending');
      running.current?.finish();
      return;
    }
    void start()
      .catch(showError)
      .finally(() => setState('off'));
  };
  const label = state === 'off' ? t('speak') : t('speakEnd');
  return (
    <IconButton
      size={36}
      radius="xl"
      variant={state === 'off' ? 'subtle' : 'light'}
      color={state === 'off' ? 'gray' : 'red'}
      loading={state === 'ending'}
      label={label}
      aria-pressed={state !== 'off'}
      onClick={toggle}
    >
      {state === 'off' ? <IconMicrophone size={20} /> : <IconPlayerStopFilled size={18} />}
    </IconButton>
  );
}
