/** The token that the chat template writes for an image, and that each part of an image takes in a prompt. */
export const imageToken = '<image>';

const border = '<fake_token_around_image>';
const wholeImage = '<global-img>';

/** The tiles of an image, and the embeddings of each. */
export interface ImageLayout {
  readonly rows: number;
  readonly columns: number;
  readonly tokensPerTile: number;
}

/** Returns the number of image tokens of an image in a prompt, without the tokens that separate its tiles. */
export function imageTokensOf({ rows, columns, tokensPerTile }: ImageLayout): number {
  return (rows * columns + 1) * tokensPerTile;
}

/**
 * Returns the text that replaces the template's {@link imageToken}, as the processor of Idefics3 in transformers writes
 * it: each tile with its row and column, then the whole image.
 */
export function imagePrompt({ rows, columns, tokensPerTile }: ImageLayout): string {
  const parts = imageToken.repeat(tokensPerTile);
  const lines = Array.from({ length: rows }, (_, row) => {
    const tiles = Array.from(
      { length: columns },
      (_unused, column) => `${border}<row_${row + 1}_col_${column + 1}>${parts}`,
    );
    return `${tiles.join('')}\n`;
  });
  return `${lines.join('')}${rows > 0 ? '\n' : ''}${border}${wholeImage}${parts}${border}`;
}
