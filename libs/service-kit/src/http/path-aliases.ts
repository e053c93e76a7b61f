/**
 * The path that a request means. Slashes that are doubled or at the end mean nothing: they come of base URLs that end in
 * one. OpenVINO Model Server has OpenAI's API below /v3: its clients find it here by the same paths. Proxies may send
 * whole URLs.
 */
export function aliasedPath(url: string): string {
  const asked = url.replace(/^https?:\/\/[^/?]*/i, '');
  const end = asked.indexOf('?');
  const path = end === -1 ? asked : asked.slice(0, end);
  const plain = `/${path.split('/').filter(Boolean).join('/')}`.replace(/^\/v3(?=\/)/, '/v1');
  return end === -1 ? plain : plain + asked.slice(end);
}
