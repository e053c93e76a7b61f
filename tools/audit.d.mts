/** What came of an audit: its report as JSON, or what npm printed in its place. */
export function judge(output: string): { code: number; text: string };
