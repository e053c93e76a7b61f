import { MegaNestError } from '#contracts';
import { projectRoot } from '#paths';
import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

/** What the doctor says. */
const doctorAnswer = z.object({
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      check: z.string().describe('What was looked at'),
      level: z.enum(['ok', 'warn', 'fail']),
      message: z.string(),
      fix: z.string().optional().describe('What to do about it'),
    }),
  ),
});
type DoctorAnswer = z.output<typeof doctorAnswer>;

/** The program of `npm run doctor`, beside the gateway's own. */
const program = join(projectRoot, 'dist/doctor.js');
const timeoutMs = 60_000;
const mostBytes = 1024 * 1024;
/** Its findings are given out again for so long. */
const freshMs = 5_000;

/** Runs the doctor with the gateway's own variables, in a process of its own and one at a time. */
@Injectable()
class Doctor {
  #running: Promise<DoctorAnswer> | undefined;
  #latest: { at: number; answer: DoctorAnswer } | undefined;

  /** Errors: internal_error where it does not run. */
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

/** It looks at no ports: the services need not be on this machine, and discovery shows those that run. */
async function run(): Promise<DoctorAnswer> {
  try {
    return doctorAnswer.parse(JSON.parse(await output()));
  } catch (error) {
    const detail = `the doctor did not run: ${(error as Error).message}`;
    throw new MegaNestError('internal_error', { service: 'gateway', detail, cause: error });
  }
}

/** What the program prints. It exits with 1 where something is to be fixed. */
async function output(): Promise<string> {
  const options = { timeout: timeoutMs, maxBuffer: mostBytes };
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

/** The findings of `npm run doctor`, for pages. */
@Controller()
export class DoctorController {
  constructor(@Inject(Doctor) private readonly doctor: Doctor) {}

  @Get('v1/doctor')
  @ApiOperation({
    summary: 'What is wrong with the installation, and what to do about it',
    answer: doctorAnswer,
  })
  examine(): Promise<DoctorAnswer> {
    return this.doctor.examine();
  }
}

/** What is wrong with the installation. */
@Module({ controllers: [DoctorController], providers: [Doctor] })
export class DoctorModule {}
