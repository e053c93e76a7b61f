import { Alert, Group, Loader, Text, Textarea } from '@mantine/core';
import type { KeyboardEvent, ReactElement } from 'react';
import { IconButton } from '../shared/icon-button';
import { IconArrowUp, IconFileText, IconPaperclip, IconPlayerStopFilled, IconX } from '../shared/icons';
import { useStored } from '../stored';
import { useText } from '../i18n/text';
import type { Attachment } from './attachment';
import { drafts, isSend, setDraft } from './drafts';
import { Microphone } from './voice/microphone';

interface ComposerProps {
  /** The conversation, or `new`. */
  conversation: string;
  busy: boolean;
  attachment: Attachment | undefined;
  attach: () => void;
  detach: () => void;
  ask: (question: string) => void;
  stop: () => void;
}

/** Where questions are written. Enter sends, Shift and Enter begin a new line. */
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

/** Sends the question, or stops the answer that is written. */
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

/** The files that are asked about in place of the documents. */
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
