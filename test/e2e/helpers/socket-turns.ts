import { ResponseSocketClient, type SocketEvent } from './response-socket.js';

/** What a client did over its WebSockets, one at a time. */
export interface SocketTurns {
  /** Turns of each connection. */
  turns: number[];
}

/** One turn: its messages, and what the server says of it. */
interface Turn {
  messages: readonly object[];
  /** The server has taken the turn, so that it must also end it. */
  isBegun(event: SocketEvent): boolean;
  isEnded(event: SocketEvent): boolean;
}

interface TurnOptions {
  /** The address of a gateway that is ready. */
  gateway: () => Promise<string>;
  path: string;
  /** The next turn; `isFirst`: of its connection. */
  turn: (isFirst: boolean) => Turn;
  isOver: () => boolean;
}

const goingAway = 1001;

/**
 * Takes turns over one WebSocket until it is asked to connect again, then over the next one. A turn that the server did
 * not begin is sent again. Errors: a turn that was begun and not ended; another close than "going away".
 */
async function takeTurns({ gateway, path, turn, isOver }: TurnOptions): Promise<SocketTurns> {
  const turns: number[] = [];
  while (!isOver()) {
    const client = await openOn(await gateway(), path);
    if (!client) continue;
    const closed = client.closed();
    let count = 0;
    let isOpen = true;
    do {
      isOpen = await takeTurn(client, closed, turn(count === 0));
      if (isOpen) count += 1;
    } while (isOpen && !isOver());
    turns.push(count);
    if (isOpen) client.close();
    const code = await closed;
    if (!isOpen && code !== goingAway) throw new Error(`${path}: closed with ${code}`);
  }
  return { turns };
}

/** Undefined where the gateway has begun to stop since it was ready: the next one is asked. */
async function openOn(gatewayUrl: string, path: string): Promise<ResponseSocketClient | undefined> {
  try {
    return await ResponseSocketClient.open(gatewayUrl, {}, path);
  } catch (error) {
    if (String(error).includes('Unexpected server response: 503')) return undefined;
    throw error;
  }
}

/** False where the server closes the connection before it begins the turn. */
async function takeTurn(client: ResponseSocketClient, closed: Promise<number>, turn: Turn): Promise<boolean> {
  for (const message of turn.messages) client.socket.send(JSON.stringify(message), () => undefined);
  const seen: string[] = [];
  let isBegun = false;
  for (;;) {
    const event = await Promise.race([client.next(), closed]);
    if (typeof event === 'number') {
      if (isBegun) throw new Error(`a turn was cut, closed with ${event} after ${seen.slice(-3).join(' ')}`);
      return false;
    }
    seen.push(JSON.stringify(event).slice(0, 300));
    isBegun ||= turn.isBegun(event);
    if (turn.isEnded(event)) return true;
    if (event.type !== 'error') continue;
    if (event.error?.code !== 'service_unavailable') throw new Error(seen.at(-1));
  }
}

/** Asks over the WebSocket of responses; the first turn of a further connection continues the last response. */
export function keepAsking(
  { gateway, isOver }: Pick<TurnOptions, 'gateway' | 'isOver'>,
  request: object,
): Promise<SocketTurns> {
  let last: string | undefined;
  return takeTurns({
    gateway,
    isOver,
    path: '/v1/responses',
    turn: (isFirst) => ({
      messages: [
        { type: 'response.create', ...request, ...(isFirst && last && { previous_response_id: last }) },
      ],
      isBegun: ({ type }) => type === 'response.created',
      isEnded: (event) => {
        if (event.type !== 'response.completed') return false;
        last = event.response.id;
        return true;
      },
    }),
  });
}

/** Speaks over the WebSocket of live audio: a WAV file with the shortest head, turn by turn. */
export function keepSpeaking(
  { gateway, isOver }: Pick<TurnOptions, 'gateway' | 'isOver'>,
  wav: Buffer,
): Promise<SocketTurns> {
  const format = { type: 'audio/pcm', rate: 16_000 };
  const session = { type: 'transcription', audio: { input: { format, turn_detection: null } } };
  const audio = wav.subarray(44).toString('base64');
  const typeOf = ({ type }: SocketEvent): string => type;
  return takeTurns({
    gateway,
    isOver,
    path: '/v1/realtime?intent=transcription',
    turn: (isFirst) => ({
      messages: [
        ...(isFirst ? [{ type: 'session.update', session }] : []),
        { type: 'input_audio_buffer.append', audio },
        { type: 'input_audio_buffer.commit' },
      ],
      isBegun: (event) => typeOf(event) === 'input_audio_buffer.committed',
      isEnded: (event) => typeOf(event) === 'conversation.item.input_audio_transcription.completed',
    }),
  });
}
