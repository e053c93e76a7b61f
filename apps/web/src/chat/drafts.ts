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
