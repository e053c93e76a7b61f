import { ActionIcon, Alert, Button, CopyButton, Group, Loader, Textarea, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy, IconPencil, IconRefresh } from '../shared/icons';
import { memo, useMemo, useState, type ReactElement, type ReactNode } from 'react';
import type { Opened } from '../documents/document-view';
import { useText } from '../i18n/text';
import { AnswerText } from './answer-text';
import { Passages } from './passages';
import { Steps } from './steps';
import { answerOf, citedPages, passagesOf, type Turn } from './turns';

interface TurnProps {
  turn: Turn;
  last: boolean;
  busy: boolean;
  again: (turn: Turn, question: string) => void;
  open: (opened: Opened) => void;
}

/** A question and its answer, with what can be done with them. */
export const TurnView = memo(function TurnView(props: TurnProps): ReactElement {
  const { turn, last, busy, open } = props;
  const t = useText();
  const [editing, setEditing] = useState(false);
  const answer = answerOf(turn);
  const passages = useMemo(() => passagesOf(turn), [turn]);
  const pages = useMemo(() => citedPages(turn), [turn]);
  const writing = turn.state === 'queued' || turn.state === 'running';
  return (
    <article className="turn" aria-label={turn.question}>
      {editing ? (
        <QuestionEditor {...props} close={() => setEditing(false)} />
      ) : (
        <div className="question">{turn.question}</div>
      )}
      <Steps output={turn.output} />
      {writing && answer === '' && (
        <Group gap="xs" role="status">
          <Loader size="xs" type="dots" aria-hidden />
          {passages.length > 0 ? t('reading', { count: passages.length }) : t('searching')}
        </Group>
      )}
      {answer !== '' && (
        <AnswerText answer={answer} passages={passages} pages={pages} writing={writing} open={open} />
      )}
      <Ending {...props} />
      {!writing && (
        <Group gap={4} mt={6}>
          {answer !== '' && <Copy text={answer} />}
          <Action label={t('edit')} disabled={busy} act={() => setEditing(true)}>
            <IconPencil size={16} />
          </Action>
          {last && (
            <Action label={t('regenerate')} disabled={busy} act={() => props.again(turn, turn.question)}>
              <IconRefresh size={16} />
            </Action>
          )}
          <Passages turn={turn} passages={passages} answer={answer} open={open} />
        </Group>
      )}
    </article>
  );
});

/** Says how an answer ended that is not whole. */
function Ending({ turn, busy, again }: TurnProps): ReactNode {
  const t = useText();
  if (turn.state === 'cancelled')
    return (
      <Alert mt="xs" color="gray" p="xs">
        {t('stopped')}
      </Alert>
    );
  if (turn.state === 'incomplete')
    return (
      <Alert mt="xs" color="yellow" p="xs">
        {t('cutOff')}
      </Alert>
    );
  if (turn.state !== 'failed') return null;
  return (
    <Alert mt="xs" color="red" title={t('noAnswer')} role="alert">
      {turn.error ?? t('failed')}
      <Button
        mt="xs"
        size="xs"
        variant="light"
        color="red"
        display="block"
        disabled={busy}
        onClick={() => again(turn, turn.question)}
      >
        {t('retry')}
      </Button>
    </Alert>
  );
}

function QuestionEditor({ turn, again, close }: TurnProps & { close: () => void }): ReactElement {
  const t = useText();
  const [value, setValue] = useState(turn.question);
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        again(turn, value.trim());
      }}
    >
      <Textarea
        autosize
        autoFocus
        aria-label={t('question')}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <Group justify="flex-end" my="xs">
        <Button size="xs" variant="default" onClick={close}>
          {t('cancel')}
        </Button>
        <Button size="xs" type="submit" disabled={value.trim() === ''}>
          {t('askAgain')}
        </Button>
      </Group>
    </form>
  );
}

function Copy({ text }: { text: string }): ReactElement {
  const t = useText();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Action label={copied ? t('copied') : t('copy')} act={copy}>
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </Action>
      )}
    </CopyButton>
  );
}

interface ActionProps {
  label: string;
  act: () => void;
  disabled?: boolean;
  children: ReactNode;
}

function Action({ label, act, disabled, children }: ActionProps): ReactElement {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={act} disabled={disabled}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
