import { attacks } from './attacks.js';
import type { Answer, Ask } from './client.js';
import { askUntil } from './small-requests.js';

/** What was wrong with the answers to an attack. */
export function faultsOf(answers: readonly Answer[], mustBeRefused: boolean): string[] {
  const failed = answers.filter(({ status }) => status === 0 || status >= 500);
  const faults = failed.map(({ status, text }) => `${status} ${text.slice(0, 200)}`);
  const refusal = answers.find(({ status }) => [400, 413, 429].includes(status));
  // The refusal is a sentence that names the limit.
  if (refusal ? !/\d/.test(refusal.text) : mustBeRefused)
    faults.push(`not a refusal that names its limit: ${refusal?.text.slice(0, 200) ?? 'none'}`);
  return faults;
}

/**
 * Runs small forms of the attacks for one client while another one asks small things of each service. Returns what was
 * wrong: errors for either, and refusals that do not name their limit. Latencies do not count, so that it can run on a
 * busy machine.
 */
export async function runShortForm(attacker: Ask, other: Ask): Promise<string[]> {
  const over = new AbortController();
  const asking = askUntil(other, over.signal);
  const faults: string[] = [];
  for (const { name, short, refused = false } of attacks) {
    if (!short) continue;
    const answers = await short(attacker, AbortSignal.timeout(60_000));
    faults.push(...faultsOf(answers, refused).map((fault) => `${name}: ${fault}`));
  }
  over.abort();
  return [...faults, ...(await asking).failures.map((failure) => `the other client: ${failure}`)];
}
