import { describe, expect, it } from 'vitest';
import { originAllowed } from './origin.js';

const open = { allowed: [], keyed: false };

describe('originAllowed', () => {
  it.each([
    ['a program without origin', undefined, '127.0.0.1:8888', open, true],
    ['a page of the internet', 'https://evil.example', '127.0.0.1:8888', open, false],
    ['a page of another port of this machine', 'http://127.0.0.1:3000', '127.0.0.1:8888', open, false],
    ['its own page by address', 'http://127.0.0.1:8888', '127.0.0.1:8888', open, true],
    ['its own page by IPv6 address', 'http://[::1]:8888', '[::1]:8888', open, true],
    ['its own page by localhost', 'http://localhost:8888', 'localhost:8888', open, true],
    ['a name that was pointed at it', 'http://evil.example:8888', 'evil.example:8888', open, false],
    [
      'its own page by name, with keys',
      'https://ai.example',
      'ai.example',
      { allowed: [], keyed: true },
      true,
    ],
    [
      'a page that is allowed',
      'https://chat.example',
      'ai.example',
      { allowed: ['https://chat.example'], keyed: false },
      true,
    ],
    ['a sandboxed page', 'null', '127.0.0.1:8888', open, false],
  ])('%s', (_what, origin, host, policy, expected) => {
    expect(originAllowed(origin, host, policy)).toBe(expected);
  });
});
