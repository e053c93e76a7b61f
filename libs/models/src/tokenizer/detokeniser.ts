/** Bytes to text as they arrive: a character appears when its last byte has come, never in halves. */
export class Detokeniser {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** @param spacesToDrop Spaces to leave out at the very start, as the model's own decoding does. */
  constructor(private spacesToDrop = 0) {}

  push(bytes: Uint8Array): string {
    const text = this.decoder.decode(bytes, { stream: true });
    if (this.spacesToDrop === 0 || text === '') return text;
    const leading = text.length - text.replace(/^ +/, '').length;
    const dropped = Math.min(leading, this.spacesToDrop);
    this.spacesToDrop = leading === text.length ? this.spacesToDrop - dropped : 0;
    return text.slice(dropped);
  }
}
