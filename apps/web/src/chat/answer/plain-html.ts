/** What a remark plugin sees of its processor. */
interface Processor {
  data(): { micromarkExtensions?: { disable?: { null: string[] } }[] };
}

/**
 * A remark plugin that reads HTML as text: an answer may quote `npm run ingest -- <folder>`, and the sanitizer would take
 * the last word away.
 */
export function plainHtml(this: unknown): void {
  const data = (this as Processor).data();
  (data.micromarkExtensions ??= []).push({ disable: { null: ['htmlFlow', 'htmlText'] } });
}
