import { MegaNestError } from '#platform/contracts';
import { projectRoot } from '#platform/foundation';
import { ApiOperation } from '#platform/service-kit';
import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

/** Report of the doctor. */
const doctorAnswer = z.object({
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      check: z.string().describe('Name of the check'),
      level: z.enum(['ok', 'warn', 'fail']),
      message: z.string(),
      fix: z.string().optional().describe('How to fix the problem'),
    }),
  ),
});
type DoctorAnswer = z.output<typeof doctorAnswer>;

/** The program of `npm run doctor`. */
const program = join(projectRoot, 'dist/doctor.js');
const timeoutMs = 60_000;
const maxBytes = 1024 * 1024;
/** A report is reused for this time. */
const freshMs = 5_000;

/** Runs the doctor with the gateway's environment variables, in a separate process and one at a time. */
@Injectable()
class Doctor {
  #running: Promise<DoctorAnswer> | undefined;
  #latest: { at: number; answer: DoctorAnswer } | undefined;

  /** Returns a report that is at most a few seconds old. Errors: internal_error if the doctor does not run. */
  async examine(): Promise<DoctorAnswer> {
    if (this.#running) return this.#running;
    if (this.#latest && performance.now() - this.#latest.at < freshMs) return this.#latest.answer;
    this.#running = run();
    try {
      const answer = await this.#running;
      this.#latest = { at: performance.now(), answer };
      return answer;
    } finally {
      this.#running = undefined;
    }
  }
}

/** Skips the checks of ports: the services may run on other machines, and discovery shows the running services. */
async function run(): Promise<DoctorAnswer> {
  try {
    return doctorAnswer.parse(JSON.parse(await output()));
  } catch (error) {
    const detail = `the doctor did not run: ${(error as Error).message}`;
    throw new MegaNestError('internal_error', { service: 'gateway', detail, cause: error });
  }
}

/** The output of the program. The exit code is 1 if it finds a problem. */
async function output(): Promise<string> {
  const options = { timeout: timeoutMs, maxBuffer: maxBytes };
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, '--json', '--without-services'],
      options,
    );
    return stdout;
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: string };
    if (code === 1 && stdout) return stdout;
    throw error;
  }
}

/** Serves the report of `npm run doctor`, for the web app. */
@Controller()
export class DoctorController {
  constructor(@Inject(Doctor) private readonly doctor: Doctor) {}

  @Get('v1/doctor')
  @ApiOperation({
    summary: 'Check the installation, and list its problems with fixes',
    answer: doctorAnswer,
  })
  examine(): Promise<DoctorAnswer> {
    return this.doctor.examine();
  }
}

/** The doctor: problems of the installation, with their fixes. */
@Module({ controllers: [DoctorController], providers: [Doctor] })
export class DoctorModule {}
