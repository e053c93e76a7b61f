/** Whether the allowed licenses satisfy an SPDX expression. */
export function isAllowed(expression: string): boolean;
/** Lists the problems of the packages of a lockfile, one line for each. */
export function problemsOf(packages: Record<string, object>): string[];
