/** A cell of a table in HTML. */
export interface TableCell {
  readonly text: string;
  /** Number of columns that it covers. */
  readonly columns: number;
  /** Number of rows that it covers. */
  readonly rows: number;
}

/** Limits for what a cell covers, so that a page cannot make a table of any size. */
const [maxColumns, maxRows] = [100, 1_000];

/** The texts of a table by rows and columns. A cell of several rows is repeated in each of them, one of several columns is not. */
export function expandSpans(rows: readonly (readonly TableCell[])[]): string[][] {
  const above = new Map<number, { text: string; left: number }>();
  return rows.map((cells) => {
    const line: string[] = [];
    const fillFromAbove = () => {
      for (let open = above.get(line.length); open; open = above.get(line.length)) {
        if (open.left > 1) above.set(line.length, { ...open, left: open.left - 1 });
        else above.delete(line.length);
        line.push(open.text);
      }
    };
    for (const { text, columns, rows } of cells) {
      fillFromAbove();
      const [width, height] = [clamp(columns, maxColumns), clamp(rows, maxRows)];
      for (let column = 0; column < width; column += 1) {
        const own = column === 0 ? text : '';
        if (height > 1) above.set(line.length, { text: own, left: height - 1 });
        line.push(own);
      }
    }
    fillFromAbove();
    return line;
  });
}

const clamp = (count: number, max: number) =>
  Number.isInteger(count) && count > 0 ? Math.min(count, max) : 1;
