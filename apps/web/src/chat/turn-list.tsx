import { useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import type { Opened } from '../documents/document-view';
import { useText } from '../i18n/text';
import { IconButton } from '../shared/icon-button';
import { IconArrowDown } from '../shared/icons';
import { TurnView } from './turn-view';
import type { Turn } from './turns';

/** Pixels from the end within which the list follows what is written. */
const nearEnd = 80;

/** The turns of a conversation: only those in view are in the page, and the end stays in view while it grows. */
export function TurnList({
  turns,
  busy,
  again,
  open,
}: {
  turns: readonly Turn[];
  busy: boolean;
  again: (turn: Turn, question: string) => void;
  open: (opened: Opened) => void;
}): ReactElement {
  const t = useText();
  const list = useRef<VListHandle>(null);
  const follows = useRef(true);
  const [away, setAway] = useState(false);
  useLayoutEffect(() => {
    if (follows.current) list.current?.scrollToIndex(turns.length - 1, { align: 'end' });
  }, [turns]);
  const toEnd = () => list.current?.scrollToIndex(turns.length - 1, { align: 'end' });
  const onScroll = (offset: number) => {
    const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    follows.current = scrollSize - viewportSize - offset < nearEnd;
    setAway(!follows.current);
  };
  return (
    <div className="turns">
      <VList
        ref={list}
        className="rows"
        onScroll={onScroll}
        role="log"
        aria-label={t('conversation')}
        aria-busy={busy}
        tabIndex={0}
      >
        {turns.map((turn, index) => (
          <div key={turn.id} className="column">
            <TurnView turn={turn} last={index === turns.length - 1} busy={busy} again={again} open={open} />
          </div>
        ))}
      </VList>
      {away && (
        <IconButton
          className="to-end"
          variant="default"
          radius="xl"
          size="lg"
          label={t('toEnd')}
          onClick={toEnd}
        >
          <IconArrowDown size={18} />
        </IconButton>
      )}
    </div>
  );
}
