import { setTimeout as wait } from 'node:timers/promises';

/** Sum of the gauge of operations under way, over all operations of a service. */
export async function pendingOperations(serviceUrl: string): Promise<number> {
  const text = await (await fetch(`${serviceUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('meganest_operations_pending{'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** What is left pending once the last requests have had time to end. */
export async function settledPendingOperations(serviceUrls: readonly string[]): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const pending = await Promise.all(serviceUrls.map(pendingOperations));
    const sum = pending.reduce((total, value) => total + value, 0);
    if (sum === 0 || attempt === 20) return sum;
    await wait(500);
  }
}
