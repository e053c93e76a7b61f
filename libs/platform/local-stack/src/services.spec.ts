import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { services } from './services.js';

const names: readonly string[] = services.map(({ name }) => name);

function servicesIn(file: string): Record<string, unknown> {
  return (parse(readFileSync(file, 'utf8'), { merge: true }) as { services: Record<string, unknown> })
    .services;
}

it('each service has a program, a container, values for Kubernetes and a user of NATS', () => {
  const users = new Set(
    [...readFileSync('deploy/nats/users.conf', 'utf8').matchAll(/^ +user: (\S+)$/gm)].map(([, user]) => user),
  );
  for (const name of names) {
    expect({ name, hasProgram: existsSync(`apps/${name}/src/main.ts`) }).toEqual({ name, hasProgram: true });
    expect({ name, hasUser: users.has(name) }).toEqual({ name, hasUser: true });
  }
  expect(Object.keys(servicesIn('docker-compose.yml'))).toEqual(expect.arrayContaining(names.toSorted()));
  expect(Object.keys(servicesIn('deploy/kubernetes/values.yaml')).toSorted()).toEqual(names.toSorted());
});

it('each service has a port of its own', () => {
  expect(new Set(services.map(({ defaultPort }) => defaultPort)).size).toBe(services.length);
});
