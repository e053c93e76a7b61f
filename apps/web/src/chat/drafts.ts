import type { KeyboardEvent } from 'react';
import { Stored } from '../stored';

/** What was written and not sent yet, by conversation; that of a new one is `new`. */
export const drafts = new Stored<Readonly<Record<string, string>>>(
  'meganest-drafts',
  {},
  window.sessionStorage,
);

/** Replaces the draft of a conversation. */
export function setDraft(conversation: string, text: string): void {
  drafts.update(({ [conversation]: _before, ...others }) =>
    text ? { ...others, [conversation]: text } : others,
  );
}

/** Two texts with one space between them. */
export function joined(before: string, text: string): string {
  return [before.trimEnd(), text.trim()].filter(Boolean).join(' ');
}

/** Whether a key sends a question: Enter, but not with Shift, and not where it ends the input of one character by several keys. */
export function isSend({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing;
}
