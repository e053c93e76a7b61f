import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a program to its end and returns its standard output. Errors: the program's own words as the message. */
export async function runCommand(command: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await run(command, [...args], { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 });
    return stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(`${command}: ${(stderr?.trim() || message).split('\n').slice(-3).join(' ')}`, {
      cause: error,
    });
  }
}
