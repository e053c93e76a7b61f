/** Name of a copy of the database, beside its files. */
export const databaseCopy = 'pgdata-copy';

/** Name of the lock of the process that has the database. */
export const embeddedLock = 'embedded-postgres.lock';
