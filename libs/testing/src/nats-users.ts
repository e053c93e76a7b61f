import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './cache-directory.js';

/** A NATS server's users: the file that MegaNest ships, with passwords made for one test. */
export interface NatsUsers {
  /** The text of the server's configuration. */
  configuration: string;
  /** The variables with which a program is that user. */
  variables(user: string): { NATS_USER: string; NATS_PASSWORD: string };
}

/** Reads deploy/nats/users.conf. `more`: entries of users beside those of the file. */
export function natsUsers(more = ''): NatsUsers {
  const file = readFileSync(join(repositoryRoot, 'deploy/nats/users.conf'), 'utf8').replace(
    /\n {2}\]\n\}\n$/,
    `\n${more}  ]\n}\n`,
  );
  const names = [...file.matchAll(/^ *user: (\S+)$/gm)].map(([, name = '']) => name);
  // What begins with a digit is a number to nats-server.
  const passwords = new Map(names.map((name) => [name, `p${randomBytes(16).toString('hex')}`]));
  const lines = [...passwords].map(([name, word]) => `NATS_${name.toUpperCase()}_PASSWORD: ${word}\n`);
  return {
    configuration: lines.join('') + file,
    variables: (user) => {
      const password = passwords.get(user);
      if (password === undefined) throw new Error(`deploy/nats/users.conf has no user ${user}`);
      return { NATS_USER: user, NATS_PASSWORD: password };
    },
  };
}
