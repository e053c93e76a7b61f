import { expect, it } from 'vitest';
import { launcherEnvironmentSchema } from './environment.js';
import { describeMisspelt, refuseUnknown } from './unknown-variables.js';

const known = Object.keys(launcherEnvironmentSchema.shape);

it.each([
  ['GATEWAY_PROT', 'GATEWAY_PORT'],
  ['LLM_MODELID', 'LLM_MODEL_ID'],
  ['LLM_ENDPONT', 'LLM_ENDPOINT'],
  ['API_KEY', 'API_KEYS'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['llm_endpoint', 'LLM_ENDPOINT'],
])('names the variable that %s is meant for', (name, meant) => {
  expect(describeMisspelt({ [name]: 'x' }, known)).toEqual([
    `${name} is not a variable of MegaNest and has no effect. Did you mean ${meant}?`,
  ]);
});

it('is silent about other variables, and where the right one is set too', () => {
  const others = {
    HOME: '/root',
    HOSTNAME: 'box',
    PATH: '/bin',
    TERM: 'xterm',
    NATS_SERVER: 'x',
    OPENAI_API_KEY: 'k',
  };
  expect(describeMisspelt({ ...others, API_KEYS: 'a', API_KEY: 'b', GATEWAY_PROT: '' }, known)).toEqual([]);
});

it('refuses unknown variables of its own prefix, with the nearest one', () => {
  expect(() => refuseUnknown({ MEGANEST_PROFIL: 'hub' }, known)).toThrow(
    'MEGANEST_PROFIL: unknown variable. Did you mean MEGANEST_PROFILE?',
  );
  expect(() => refuseUnknown({ MEGANEST_XYZ_ABC: '1' }, known)).toThrow(/Known are MEGANEST_/);
});
