import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type TouchEvent,
  type WheelEvent,
} from 'react';
import type { Turn } from './turns';

/** Distance in pixels from the end within which the list follows the answer. */
const nearEnd = 80;
const keysUp = new Set(['ArrowUp', 'PageUp', 'Home']);

/**
 * Keeps the end of a list of turns in view while an answer grows. A wheel, a finger or a key upward ends this at once:
 * the position alone does not show that the user scrolls, because the next words move it back. A new question and a
 * scroll to the end start it again. The virtual list's own `scrollToIndex` goes on while the sizes of its items change,
 * so that it would hold the view for the whole answer.
 */
export function useFollowing(turns: readonly Turn[], busy: boolean) {
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const last = useRef(0);
  const [away, setAway] = useState(false);
  // The event of this scroll may come after a scroll by the user, and is not one.
  const scrollToEnd = () => {
    const list = listIn(frame.current);
    if (!list) return;
    list.scrollTop = list.scrollHeight;
    last.current = list.scrollTop;
  };
  useLayoutEffect(() => {
    if (busy) follows.current = true;
  }, [busy]);
  useLayoutEffect(() => {
    if (follows.current) scrollToEnd();
  }, [turns, busy]);
  // The list measures its items after they are rendered.
  useEffect(() => {
    const content = listIn(frame.current)?.firstElementChild;
    if (!content) return undefined;
    const observer = new ResizeObserver(() => follows.current && scrollToEnd());
    observer.observe(content);
    return () => observer.disconnect();
  }, []);
  const toEnd = () => {
    follows.current = true;
    scrollToEnd();
  };
  const onScroll = (offset: number) => {
    const { scrollHeight = 0, clientHeight = 0 } = listIn(frame.current) ?? {};
    const isNear = scrollHeight - clientHeight - offset < nearEnd;
    if (offset < last.current && !isNear) follows.current = false;
    if (offset > last.current && isNear) follows.current = true;
    last.current = offset;
    setAway(!isNear);
  };
  const handlers = useMemo(
    () =>
      upwardHandlers(() => {
        // A list that fits into the view does not scroll.
        if ((listIn(frame.current)?.scrollTop ?? 0) > 0) follows.current = false;
      }),
    [],
  );
  return { away, toEnd, onScroll, watch: { ref: frame, ...handlers } };
}

function listIn(frame: HTMLElement | null): Element | null {
  return frame?.querySelector('[role=log]') ?? null;
}

/** Handlers for the ways to scroll upward. */
function upwardHandlers(onUpward: () => void) {
  let finger: number | undefined;
  return {
    onWheelCapture: ({ deltaY }: WheelEvent) => {
      if (deltaY < 0) onUpward();
    },
    onTouchStartCapture: ({ touches }: TouchEvent) => {
      finger = touches[0]?.clientY;
    },
    onTouchMoveCapture: ({ touches }: TouchEvent) => {
      const now = touches[0]?.clientY;
      if (finger !== undefined && now !== undefined && now > finger) onUpward();
      finger = now;
    },
    onKeyDownCapture: ({ key, shiftKey, target }: KeyboardEvent) => {
      const isTyping = target instanceof HTMLTextAreaElement;
      if (!isTyping && (keysUp.has(key) || (key === ' ' && shiftKey))) onUpward();
    },
  };
}
