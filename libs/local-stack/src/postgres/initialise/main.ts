/**
 * Creates an empty database: `node main.js <directory>`. A process of its own, because creating takes 500 MB that
 * WebAssembly would not give back to a process that goes on.
 */
import { openDatabase } from '../database-files.js';

const [directory = ''] = process.argv.slice(2);
const database = await openDatabase(directory);
await database.close();
