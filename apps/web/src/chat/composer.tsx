import { ActionIcon, Alert, Group, Loader, Text, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconFileText, IconPaperclip, IconPlayerStopFilled, IconX } from '../shared/icons';
import { type KeyboardEvent, type ReactElement } from 'react';
import { useStored } from '../stored';
import { useText } from '../i18n/text';
import type { Attachment } from './attachment';
import { drafts, setDraft } from './drafts';
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
    // Enter also ends the input of a character in languages that need several keys for one.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
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
          <Tooltip label={t('attach')}>
            <ActionIcon
              size={36}
              radius="xl"
              variant="subtle"
              color="gray"
              aria-label={t('attach')}
              onClick={attach}
            >
              <IconPaperclip size={20} />
            </ActionIcon>
          </Tooltip>
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
          {busy ? (
            <Tooltip label={t('stop')}>
              <ActionIcon
                size={36}
                radius="xl"
                color="red"
                variant="filled"
                aria-label={t('stop')}
                onClick={stop}
              >
                <IconPlayerStopFilled size={18} />
              </ActionIcon>
            </Tooltip>
          ) : (
            <ActionIcon
              size={36}
              radius="xl"
              type="submit"
              variant="filled"
              aria-label={t('send')}
              disabled={!mayAsk}
            >
              <IconArrowUp size={20} />
            </ActionIcon>
          )}
        </form>
      </div>
    </div>
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
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={t('fileRemove', { name })}
          onClick={detach}
        >
          <IconX size={14} />
        </ActionIcon>
      )}
    </Group>
  );
}
