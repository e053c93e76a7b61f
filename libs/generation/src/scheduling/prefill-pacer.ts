/**
 * Shares time between prompts and answers: after a piece of a prompt, answers advance for as long as the piece took
 * before the next piece may go in. The time between two tokens then at most doubles on average, however long the prompt.
 */
export class PrefillPacer {
  private owedMilliseconds = 0;

  get allowsPrefill(): boolean {
    return this.owedMilliseconds <= 0;
  }

  notePrefill(milliseconds: number): void {
    this.owedMilliseconds = milliseconds;
  }

  noteDecode(milliseconds: number): void {
    this.owedMilliseconds = Math.max(0, this.owedMilliseconds - milliseconds);
  }
}
