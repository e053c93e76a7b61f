import { Alert, Button, CopyButton, Group, Loader, Textarea, Code } from '@mantine/core';
import {
  memo,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
} from 'react';
import type { Opened } from '../documents/document-view';
import { useText } from '../i18n/text';
import { Failure, IconButton } from '../shared/components';
import { IconCheck, IconCopy, IconPencil, IconRefresh } from '../shared/icons';
import { AnswerText } from './answer/answer-text';
import { Passages } from './answer/passages';
import { isSend } from './composer';
import { answerOf, citedPlaces, numberedPassages, passagesOf, type Turn, type OutputItem } from './turns';

interface TurnProps {
  turn: Turn;
  last: boolean;
  busy: boolean;
  again: (turn: Turn, question: string) => void;
  open: (opened: Opened) => void;
}

/** A question and its answer, with their actions. */
export const TurnView = memo(function TurnView(props: TurnProps): ReactElement {
  const { turn, last, busy, open } = props;
  const t = useText();
  const [editing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const answer = answerOf(turn);
  const passages = useMemo(() => passagesOf(turn), [turn]);
  const numbered = useMemo(() => numberedPassages(turn), [turn]);
  const places = useMemo(() => citedPlaces(turn), [turn]);
  const writing = turn.state === 'queued' || turn.state === 'running';
  return (
    <article className="turn" aria-label={turn.question}>
      {editing ? (
        <QuestionEditor
          {...props}
          close={() => {
            setEditing(false);
            pencil.current?.focus();
          }}
        />
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
        <AnswerText answer={answer} passages={numbered} places={places} writing={writing} open={open} />
      )}
      <Ending {...props} />
      {!writing && (
        <Group gap={4} mt={6}>
          {answer !== '' && <Copy text={answer} />}
          <IconButton ref={pencil} label={t('edit')} disabled={busy} onClick={() => setEditing(true)}>
            <IconPencil size={16} />
          </IconButton>
          {last && (
            <IconButton
              label={t('regenerate')}
              disabled={busy}
              onClick={() => props.again(turn, turn.question)}
            >
              <IconRefresh size={16} />
            </IconButton>
          )}
          <Passages turn={turn} passages={passages} answer={answer} open={open} />
        </Group>
      )}
    </article>
  );
});

/** The reason why an answer is incomplete. */
function Ending({ turn, busy, again }: TurnProps): ReactNode {
  const t = useText();
  if (turn.state === 'cancelled' || turn.state === 'incomplete')
    return (
      <Alert mt="xs" color={turn.state === 'cancelled' ? 'gray' : 'yellow'} p="xs">
        {turn.state === 'cancelled' ? t('stopped') : t('cutOff')}
      </Alert>
    );
  if (turn.state !== 'failed') return null;
  return (
    <Failure
      mt="xs"
      title={t('noAnswer')}
      error={turn.error ?? t('failed')}
      retry={() => again(turn, turn.question)}
      disabled={busy}
    />
  );
}

/** Editor for a question. Enter asks again; Escape cancels the edit. */
function QuestionEditor({ turn, again, close }: TurnProps & { close: () => void }): ReactElement {
  const t = useText();
  const [value, setValue] = useState(turn.question);
  const send = () => {
    if (value.trim() === '') return;
    close();
    again(turn, value.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.nativeEvent.isComposing) close();
    if (!isSend(event)) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Textarea
        autosize
        autoFocus
        aria-label={t('question')}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        onKeyDown={onKeyDown}
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
        <IconButton label={copied ? t('copied') : t('copy')} onClick={copy}>
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </IconButton>
      )}
    </CopyButton>
  );
}

/** Collapsed steps before the answer: reasoning and tool calls. */
function Steps({ output }: { output: readonly OutputItem[] }): ReactElement[] {
  const t = useText();
  return output.flatMap((item) => {
    const step = stepOf(item);
    if (!step) return [];
    const label = step.name === undefined ? t('thoughts') : t('toolCall', { name: step.name });
    return (
      <details key={item.id} className="step">
        <summary>{label}</summary>
        <Code block>{step.body}</Code>
      </details>
    );
  });
}

function stepOf(item: OutputItem): { name?: string; body: string } | undefined {
  switch (item.type) {
    case 'reasoning': {
      const parts = item.content?.length ? item.content : item.summary;
      return parts.length > 0 ? { body: parts.map(({ text }) => text).join('\n') } : undefined;
    }
    case 'function_call':
      return { name: item.name, body: item.arguments };
    case 'custom_tool_call':
      return { name: item.name, body: item.input };
    case 'mcp_call':
    case 'mcp_approval_request': {
      const { output, error } = { output: null, error: null, ...item };
      // The type of an error is a text, but servers also send an object.
      const outcome = output ?? (error && (typeof error === 'string' ? error : JSON.stringify(error)));
      return { name: item.name, body: [item.arguments, outcome].filter(Boolean).join('\n\n') };
    }
    default:
      return undefined;
  }
}
