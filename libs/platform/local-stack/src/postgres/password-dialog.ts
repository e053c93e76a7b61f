import { createHash, timingSafeEqual } from 'node:crypto';

/** Codes in place of a protocol version. */
const sslRequest = 80_877_103;
const encryptionRequest = 80_877_104;
const protocol3 = 196_608;
/** Length and code of a first message. */
const headBytes = 8;
const maxMessageBytes = 10_000;
const passwordMessage = 'p'.charCodeAt(0);
/** AuthenticationCleartextPassword: the connection is on loopback. */
const askForPassword = Buffer.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3);
const noEncryption = Buffer.from('N');

/** A client is refused. */
export class RefusedClientError extends Error {
  override readonly name = 'RefusedClientError';

  constructor(
    /** The SQLSTATE. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The begin of a connection in the Postgres protocol: PGlite itself lets every client in. Its first message is kept until
 * the client has sent the password.
 */
export class PasswordDialog {
  #received: Buffer = Buffer.alloc(0);
  #startup: Buffer | undefined;

  constructor(
    private readonly password: string,
    private readonly answer: (bytes: Buffer) => void,
  ) {}

  /**
   * Reads the next bytes of the client. Returns the bytes that the database has to read, after the right password;
   * undefined if more have to come. Errors: RefusedClientError.
   */
  take(bytes: Buffer): Buffer | undefined {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#startup === undefined) if (!this.#readStartup()) return undefined;
    return this.#readPassword(this.#startup);
  }

  /** False if more bytes have to come. */
  #readStartup(): boolean {
    if (this.#received.length < headBytes) return false;
    const length = this.#received.readInt32BE(0);
    const code = this.#received.readInt32BE(4);
    const isQuestion = length === headBytes && (code === sslRequest || code === encryptionRequest);
    if (!isQuestion && code !== protocol3)
      throw new RefusedClientError('0A000', 'only version 3.0 of the protocol is supported');
    const message = this.#next(length);
    if (!message) return false;
    if (!isQuestion) this.#startup = message;
    this.answer(isQuestion ? noEncryption : askForPassword);
    return true;
  }

  #readPassword(startup: Buffer): Buffer | undefined {
    if (this.#received.length < 5) return undefined;
    if (this.#received[0] !== passwordMessage)
      throw new RefusedClientError('28P01', 'the client sent no password');
    const message = this.#next(1 + this.#received.readInt32BE(1));
    if (!message) return undefined;
    const given = message.subarray(5, -1).toString('utf8');
    if (!timingSafeEqual(digest(given), digest(this.password)))
      throw new RefusedClientError(
        '28P01',
        'password authentication failed: the file `password` of the data directory has it',
      );
    return Buffer.concat([startup, this.#received]);
  }

  /** Takes a message off the received bytes; undefined if it is not complete. */
  #next(length: number): Buffer | undefined {
    if (length < 5 || length > maxMessageBytes) throw new RefusedClientError('08P01', 'invalid message');
    if (this.#received.length < length) return undefined;
    const message = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return message;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
