const longestUrl = 200;

/** An `input_image` part in words, for a model that takes text only: `[image: image/png, 470 bytes]`. */
export function describeImage({ image_url: url, file_id: id }: Record<string, unknown>): string {
  if (typeof url === 'string') return `[image: ${url.startsWith('data:') ? describeData(url) : cut(url)}]`;
  return `[image: ${typeof id === 'string' ? cut(id) : 'without content'}]`;
}

function describeData(url: string): string {
  const [head = '', data = ''] = url.slice('data:'.length).split(',', 2);
  const type = head.split(';')[0] ?? '';
  const bytes = Buffer.byteLength(data, head.endsWith(';base64') ? 'base64' : 'utf8');
  return `${type === '' ? 'of unknown type' : cut(type)}, ${bytes} bytes`;
}

function cut(text: string): string {
  return text.length > longestUrl ? `${text.slice(0, longestUrl)}…` : text;
}
