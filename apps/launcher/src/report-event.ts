import type { ChildExit, SupervisionEvent } from '#local-stack';
import { formatSeconds } from './summary.js';

function describeExit({ code, signal, error }: ChildExit): string {
  if (error) return error.message;
  return signal ?? `exit code ${code}`;
}

/** One line on the console for what a person wants to know about a child: that it is ready, that it died. */
export function reportEvent(name: string, event: SupervisionEvent): void {
  const label = name.padEnd(11);
  if (event.type === 'ready') console.log(`${label}ready (${formatSeconds(event.afterMs)})`);
  if (event.type === 'hung') console.error(`${label}does not answer any more; it is ended`);
  if (event.type === 'exited' && event.restartInMs !== undefined)
    console.error(
      `${label}died (${describeExit(event.exit)}), restarting in ${formatSeconds(event.restartInMs)}`,
    );
}
