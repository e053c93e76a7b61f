/** `npm run backup -- <directory>`: copies the embedded database, running or not, to a new data directory. */
import { backUp } from './back-up.js';

try {
  const [target] = process.argv.slice(2);
  console.log(await backUp(process.env, target));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
