/** A thing to measure: `run` does the whole work once and returns how many units it did. */
export interface Contender {
  readonly name: string;
  readonly run: () => Promise<number>;
}

export interface Result {
  readonly name: string;
  /** Medians over the rounds: units per second of wall clock, and per second of processor time. */
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

/** Lets the contenders take turns, so that a busy machine slows them alike; the first turn of each is not counted. */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<Result[]> {
  const runs = contenders.map((): { wall: number; cpu: number }[] => []);
  for (const { run } of contenders) await run();
  for (let round = 0; round < rounds; round++) {
    for (const [index, { run }] of contenders.entries()) runs[index]!.push(await measure(run));
  }
  return contenders.map(({ name }, index) => ({
    name,
    perSecond: median(runs[index]!.map(({ wall }) => wall)),
    perCpuSecond: median(runs[index]!.map(({ cpu }) => cpu)),
  }));
}

/** Prints a table whose ratios compare each row with the last one. */
export function printTable(title: string, unit: string, results: readonly Result[]): void {
  const base = results.at(-1)!;
  console.log(`\n### ${title}\n`);
  console.log(`| | ${unit}/s | ratio | ${unit} per CPU second | ratio |\n|---|---|---|---|---|`);
  for (const { name, perSecond, perCpuSecond } of results) {
    const wall = `${perSecond.toPrecision(3)} | ${(perSecond / base.perSecond).toFixed(2)}`;
    const cpu = `${perCpuSecond.toPrecision(3)} | ${(perCpuSecond / base.perCpuSecond).toFixed(2)}`;
    console.log(`| ${name} | ${wall} | ${cpu} |`);
  }
}

async function measure(run: () => Promise<number>): Promise<{ wall: number; cpu: number }> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const units = await run();
  const wall = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall: units / wall, cpu: units / ((user + system) / 1e6) };
}

function median(values: number[]): number {
  return values.sort((left, right) => left - right)[values.length >> 1]!;
}
