import { parentPort, workerData } from 'node:worker_threads';
import { clientOf } from './client.js';
import { askUntil } from './small-requests.js';

/**
 * The client that expects quick answers, in a thread of its own: an attack sends tens of megabytes, and the event loop
 * that sends them would add seconds to the latencies that it measures. It begins at once, and answers the message
 * `end` with its {@link Experience}.
 */
const { url, key } = workerData as { url: string; key: string };
const over = new AbortController();
parentPort!.once('message', () => over.abort());
const experience = await askUntil(clientOf(url, key), over.signal);
parentPort!.postMessage(experience, []);
