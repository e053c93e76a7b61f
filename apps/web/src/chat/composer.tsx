import { ActionIcon, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '../app/icons';
import { useState, type KeyboardEvent, type ReactElement } from 'react';
import { useText } from '../i18n/text';

/** Where questions are written. Enter sends, Shift and Enter begin a new line. */
export function Composer({
  busy,
  ask,
  stop,
}: {
  busy: boolean;
  ask: (question: string) => void;
  stop: () => void;
}): ReactElement {
  const t = useText();
  const [value, setValue] = useState('');
  const send = () => {
    const question = value.trim();
    if (question === '' || busy) return;
    setValue('');
    ask(question);
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
        <form
          className="composer-box"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <Textarea
            variant="unstyled"
            flex={1}
            autosize
            maxRows={8}
            autoFocus
            aria-label={t('question')}
            placeholder={t('askPlaceholder')}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
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
              disabled={value.trim() === ''}
            >
              <IconArrowUp size={20} />
            </ActionIcon>
          )}
        </form>
      </div>
    </div>
  );
}
