/** Of each line of releases, the first that is used: earlier ones have known holes in JetStream's access control. */
const oldest: readonly (readonly [minor: number, patch: number])[] = [
  [10, 27],
  [11, 1],
];

/** The oldest nats-server that is used, for people. */
export const oldestVersion = `2.${oldest.map(([minor, patch]) => `${minor}.${patch}`).join(' or 2.')}`;

/** Whether `version`, as `nats-server --version` prints it, is new enough to be used. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major !== 2) return major > 2;
  const line = oldest.find(([listed]) => listed === minor);
  return line === undefined ? minor > (oldest.at(-1)?.[0] ?? 0) : patch >= line[1];
}
