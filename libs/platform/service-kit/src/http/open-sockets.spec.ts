import { expect, it } from 'vitest';
import { OpenSockets } from './open-sockets.js';

it('gives half of the sockets to one client, and the others to other clients', () => {
  const sockets = new OpenSockets<object>({ service: 'gateway', what: 'open WebSockets', max: 4 });
  const open = (client: string) => {
    sockets.check(client);
    const socket = {};
    sockets.add(socket, client);
    return socket;
  };
  const first = open('bob');
  open('bob');
  const refused = { status: 429, retryAfter: 5 };
  expect(() => open('bob')).toThrow(expect.objectContaining(refused));
  expect(() => open('bob')).toThrow('2 open WebSockets of this client, and the limit is 2');
  open('alice');
  open('alice');
  expect(() => open('carol')).toThrow('4 open WebSockets');
  sockets.delete(first);
  open('carol');
  expect([...sockets]).toHaveLength(4);
});
