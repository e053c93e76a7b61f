/**
 * Creates an empty database: `node main.js <directory>`. It is a separate process, because WebAssembly would not
 * release the 500 MB of memory that the creation needs.
 */
import { openDatabase } from '../database-files.js';

const [directory = ''] = process.argv.slice(2);
const database = await openDatabase(directory);
await database.close();
