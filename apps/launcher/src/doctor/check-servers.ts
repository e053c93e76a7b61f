import { isNewEnough, oldestVersion } from '#platform/local-stack';
import { inspectNats } from '#platform/messaging';
import { natsAccess } from '#platform/service-kit';
import { inspectDatabase, type DatabaseFacts } from '#platform/storage';
import type { LauncherEnvironment } from '../environment.js';
import { maskUrl } from '../summary.js';
import { checkNatsProgram } from './check-machine.js';
import { checkClock, fail, ok, reasonOf, warn, type Finding } from './finding.js';

const usualPayloadBytes = 1024 * 1024;
const minPostgresVersion = 150_000;
const minVectorVersion = '0.8.0';

/** Checks NATS: connection, version, message size, JetStream. */
export async function checkNats(environment: LauncherEnvironment): Promise<Finding[]> {
  const { NATS_URL } = environment;
  if (NATS_URL === undefined) return [await checkNatsProgram(environment)];
  try {
    const facts = await inspectNats(natsAccess(environment));
    const { version, maxPayloadBytes, jetStream, jetStreamProblem, roundTripMs } = facts;
    const findings = [ok('nats', `${version} at ${maskUrl(NATS_URL)}, ${roundTripMs} ms`)];
    if (!jetStream)
      findings.push(
        fail(
          'nats',
          'JetStream is off, so files cannot be transferred',
          'start nats-server with --jetstream',
        ),
      );
    if (jetStreamProblem !== undefined)
      findings.push(
        fail(
          'nats',
          `JetStream does not work, so files cannot be transferred: ${jetStreamProblem}`,
          'make room on the disks of its servers and restart them; or enable JetStream for the account',
        ),
      );
    if (!isNewEnough(version))
      findings.push(
        warn(
          'nats',
          `version ${version} has known vulnerabilities`,
          `install nats-server ${oldestVersion} or later`,
        ),
      );
    if (maxPayloadBytes < usualPayloadBytes)
      findings.push(
        warn(
          'nats',
          `max_payload is ${maxPayloadBytes} bytes`,
          'set max_payload to 1 MiB or more in its configuration',
        ),
      );
    return findings;
  } catch (error) {
    const fix = 'start it, correct NATS_URL, or unset it for one of MegaNest’s own';
    return [fail('nats', `${maskUrl(NATS_URL)} does not answer: ${reasonOf(error)}`, fix)];
  }
}

export interface DatabaseReport {
  findings: Finding[];
  facts?: DatabaseFacts;
}

/** Checks Postgres: connection, version, pgvector, migrations, privileges, clock. */
export async function checkDatabase({ DATABASE_URL }: LauncherEnvironment): Promise<DatabaseReport> {
  if (DATABASE_URL === undefined) return { findings: [ok('postgres', 'embedded, started by npm start')] };
  try {
    const facts = await inspectDatabase(DATABASE_URL);
    return {
      findings: [...describeDatabase(facts, maskUrl(DATABASE_URL)), ...describeMigrations(facts)],
      facts,
    };
  } catch (error) {
    const message = `${maskUrl(DATABASE_URL)} does not answer: ${reasonOf(error)}`;
    const fix = 'start it, correct DATABASE_URL, or unset it for the embedded one';
    return { findings: [fail('postgres', message, fix)] };
  }
}

function describeDatabase({ serverVersion, vector, mayCreate, now }: DatabaseFacts, url: string): Finding[] {
  const shown = `${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
  const skewMs = Math.abs(now - Date.now());
  const findings = [
    serverVersion >= minPostgresVersion
      ? ok('postgres', `${shown} at ${url}`)
      : fail('postgres', `${shown} is too old`, 'use Postgres 15 or later'),
    vector.version !== null &&
    vector.version.localeCompare(minVectorVersion, undefined, { numeric: true }) >= 0
      ? ok('pgvector', `${vector.version}${vector.installed ? '' : ', installed at the first start'}`)
      : fail(
          'pgvector',
          vector.version ?? 'is missing',
          `install pgvector ${minVectorVersion} or later on the server`,
        ),
  ];
  if (!mayCreate)
    findings.push(
      fail(
        'postgres',
        'the user may not create tables',
        'GRANT CREATE ON SCHEMA public TO the user of DATABASE_URL',
      ),
    );
  return [...findings, ...checkClock('the database', skewMs)];
}

function describeMigrations({ pendingMigrations, unknownMigrations }: DatabaseFacts): Finding[] {
  if (unknownMigrations.length > 0)
    return [
      fail(
        'migrations',
        `a newer version of MegaNest has migrated this database: ${unknownMigrations.join(', ')}`,
        'run that version, or use another database',
      ),
    ];
  if (pendingMigrations.length === 0) return [ok('migrations', 'all applied')];
  return [ok('migrations', `${pendingMigrations.length} are applied by the next start`)];
}
