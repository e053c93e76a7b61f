import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a few megabytes. */
export interface SmallDisk {
  path: string;
  /** Writes a file that leaves about so many bytes. */
  fill(bytesLeft?: number): void;
  /** Removes that file. */
  makeRoom(): void;
  remove(): void;
}

function mount(path: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path], {
    stdio: 'pipe',
  });
}

/** A disk of a few megabytes, which only root may make. */
export function makeSmallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'meganest-disk-'));
  mount(path, megabytes);
  const ballast = join(path, 'ballast');
  return {
    path,
    fill: (bytesLeft = 0) => {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(bavail * bsize - bytesLeft, 0)));
      } catch (error) {
        // Others write, too.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    makeRoom: () => rmSync(ballast, { force: true }),
    remove: () => {
      execFileSync('umount', ['-l', path], { stdio: 'pipe' });
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Whether this process may make one. */
export function canMakeDisks(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    makeSmallDisk(1).remove();
    return true;
  } catch {
    return false;
  }
}
