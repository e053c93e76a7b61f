/** True of an SPDX expression that the allowed licences satisfy. */
export function isAllowed(expression: string): boolean;
/** What is wrong with the packages of a lockfile, one line each. */
export function problemsOf(packages: Record<string, object>): string[];
