import { WebSocket } from 'ws';

interface LiveEvent extends Record<string, unknown> {
  type: string;
}

/**
 * Sends the samples of a WAV file with the shortest head as live audio, in pieces of 100 ms, then silence; resolves with
 * the events up to the first transcript. Errors: what refuses the connection; events of errors.
 */
export async function sendLive(
  url: string,
  wav: Buffer,
  rate: number,
  { path = '/v1/realtime?intent=transcription', headers = {} } = {},
): Promise<LiveEvent[]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
  const events: LiveEvent[] = [];
  const send = (message: object) => socket.send(JSON.stringify(message));
  try {
    return await new Promise<LiveEvent[]>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(events)}`)));
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString()) as LiveEvent;
        events.push(event);
        if (event.type === 'error' || event.type.endsWith('failed')) reject(new Error(JSON.stringify(event)));
        if (event.type.endsWith('transcription.completed')) resolve(events);
      });
      socket.once('open', () => {
        const format = { type: 'audio/pcm', rate };
        send({ type: 'session.update', session: { type: 'transcription', audio: { input: { format } } } });
        const audio = Buffer.concat([wav.subarray(44), Buffer.alloc(2 * rate)]);
        const piece = rate / 5;
        for (let start = 0; start < audio.length; start += piece)
          send({
            type: 'input_audio_buffer.append',
            audio: audio.subarray(start, start + piece).toString('base64'),
          });
      });
    });
  } finally {
    socket.close();
  }
}
