import { nodeMetadataKey } from '#contracts';
import { bucket } from '../object-store.js';
import { maxBodyBytes } from '../parts.js';
import { aliveSubject, firstHeartbeatMs, header, heartbeatMs, instanceSubject, silenceMs } from '../wire.js';

/** How calls over NATS work, for the AsyncAPI document. */
export const asyncApiGuide = `
Calls between MegaNest's services, as plain NATS: any language with a NATS client can serve or call them.

**A call** is a JSON message to \`meganest.<service>.<method>\` with a reply subject; an empty body counts as \`{}\`. All
instances of a service subscribe in one queue group, its name, so that each call goes to one of them. Operations are
written as the service sees them: it receives the request and sends to the reply subject.

**A reply** is one JSON message on the reply subject. **A stream** is several of them and then an empty message with
\`${header.stream}: end\` and \`${header.count}\`, the number of messages, so that a lost one is noticed.

**Heartbeats.** While a call runs, the service sends an empty message with \`${header.stream}: alive\` to the reply subject every
${heartbeatMs} ms, with \`meganest.cancel.<call id>\` as its own reply subject: when the caller is gone, NATS itself answers "no
responders" there, and the call stops. A caller that hears nothing for ${silenceMs} ms takes the service for dead.

**Death** is noticed sooner of a service that does three more things: it listens on \`${aliveSubject('<service>', '<id>')}\` for as long as
it is connected, where no answer is wanted; it answers \`${aliveSubject('<service>')}\` with that id as text, up to 64
letters, digits, underscores and dashes; and it names the id as \`${header.instance}\` of its heartbeats, the first one ${firstHeartbeatMs} to
${2 * firstHeartbeatMs} ms after the call. Callers that wait ask both subjects; "no
responders" five times in a row on that of an instance loses its calls.

**Load.** An instance may take calls of its own: it listens on \`${instanceSubject('meganest.<service>.<method>', '<id>')}\` for each
method, outside the queue group, and answers \`${aliveSubject('<service>')}\` with \`${header.load}\`, the number of its calls under way, or \`none\`
when it is about to stop. Where all instances that answer do so, callers choose the less busy of two random ones; a call that one of
them refuses as \`overloaded\` goes to another. Other services are left to the queue group.

**Cancel.** Any message to \`meganest.cancel.<call id>\` stops the call; every instance listens there.

**Deadline.** \`${header.timeout}\` holds the milliseconds that are left, a duration, so that clocks need not agree.

**Errors** are a message with NATS's own headers \`${header.errorCode}\` and \`${header.error}\` (ADR-32) and the error as JSON.
An unknown method or no instance is NATS's 503 "no responders".

**Large bodies.** A message holds what the server's max_payload says, 1 MiB by default. A longer reply is cut into messages, in order,
for callers that sent \`${header.accept}: parts\`; others get \`payload_too_large\`. Each part has \`${header.part}\`: \`more\`, or on the last one
the bytes of all. A longer request is sent without a body and with \`${header.body}\`, its bytes. The instance that gets it answers
with an empty message, \`${header.stream}: send\` and a reply subject of its own, where the caller sends the parts. A body has at most ${maxBodyBytes} bytes.

**Limits.** Vectors are base64 of little-endian
Float32. Files travel by reference: put the bytes into the JetStream object store \`${bucket}\` and send the
\`FileReference\`; objects are dropped after a day.

**Discovery** is NATS's service protocol (ADR-32): \`$SRV.PING\`, \`$SRV.INFO\`, \`$SRV.STATS\`. A service that mega services
shall use puts a \`NodeAnnouncement\` as JSON under \`${nodeMetadataKey}\` of its metadata and serves \`node.run\`.
`.trim();
