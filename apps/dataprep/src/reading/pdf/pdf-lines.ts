/** A run of text as a page paints it. Positions and sizes in points; y grows upwards. */
export interface TextRun {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** The page's text says that a line ends here. */
  endsLine: boolean;
}

/** A line of a page. */
export interface PageLine {
  /** Texts that a wide gap separates: more than one makes a row of a table. */
  cells: string[];
  x: number;
  y: number;
  size: number;
  page: number;
}

/** Puts the runs of a page together to lines, in the order in which they are painted. */
export function gatherLines(runs: TextRun[], page: number): PageLine[] {
  const lines: PageLine[] = [];
  let end = 0;
  let open = false;
  for (const [index, run] of runs.entries()) {
    const line = lines.at(-1);
    const sameLine = open && line && Math.abs(line.y - run.y) < Math.max(run.size, line.size) * 0.5;
    if (!run.text.trim()) {
      if (sameLine && line.cells.length > 0) line.cells[line.cells.length - 1] += ' ';
    } else if (sameLine) {
      appendRun(line, run, run.x - end);
      end = run.x + run.width;
    } else {
      lines.push({ cells: [run.text], x: run.x, y: run.y, size: round(run.size), page });
      end = run.x + run.width;
    }
    open = !run.endsLine || isSameRow(run, runs[index + 1]);
  }
  return lines;
}

/** A line end between two runs at one height is the gap between two cells. */
function isSameRow(run: TextRun, next: TextRun | undefined): boolean {
  return next !== undefined && Math.abs(next.y - run.y) < 1;
}

function appendRun(line: PageLine, run: TextRun, gap: number): void {
  const last = line.cells.length - 1;
  if (gap > run.size * 1.8) line.cells.push(run.text);
  else line.cells[last] += (gap > run.size * 0.15 ? ' ' : '') + run.text;
  line.size = Math.max(line.size, round(run.size));
}

/** Sizes to half a point: what scaling makes of one size stays one size. */
function round(size: number): number {
  return Math.round(size * 2) / 2;
}
