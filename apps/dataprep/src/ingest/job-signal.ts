import type { MessagingConnection } from '#platform/messaging';
import type { JobSignal } from './ingest-jobs.js';

/** Instances without the permission to use it look for jobs at intervals only. */
const subject = 'meganest.dataprep.jobs-waiting';

/** The signal over NATS. A lost message does no harm. */
export function jobSignal({ nats }: Pick<MessagingConnection, 'nats'>): JobSignal {
  return {
    send: () => {
      // A closed connection refuses messages.
      if (!nats.isClosed() && !nats.isDraining()) nats.publish(subject);
    },
    onSignal: (listener) => {
      const callback = (error: Error | null) => {
        if (!error) listener();
      };
      nats.subscribe(subject, { callback });
    },
  };
}
