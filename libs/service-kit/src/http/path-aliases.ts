/** OpenVINO Model Server has OpenAI's API below /v3: its clients find it here by the same paths. */
export function aliasedPath(url: string): string {
  return url.replace(/^\/v3(?=\/)/, '/v1');
}
