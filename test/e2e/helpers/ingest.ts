/** Uploads a text as a file through the gateway and waits until it is stored. */
export function ingestText(gatewayUrl: string, filename: string, text: string): Promise<void> {
  return ingestFile(gatewayUrl, filename, text);
}

/** Uploads a file through the gateway and waits until it is stored. */
export async function ingestFile(
  gatewayUrl: string,
  filename: string,
  content: string | Buffer,
): Promise<void> {
  const form = new FormData();
  form.append('files', new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), filename);
  const response = await fetch(`${gatewayUrl}/v1/dataprep/ingest`, { method: 'POST', body: form });
  if (!response.ok) throw new Error(`ingest of ${filename}: ${response.status} ${await response.text()}`);
}

/** Deletes a file and its passages through the gateway. */
export async function deleteFile(gatewayUrl: string, filename: string): Promise<void> {
  const response = await fetch(`${gatewayUrl}/v1/dataprep/delete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ file_path: filename }),
  });
  if (!response.ok) throw new Error(`delete of ${filename}: ${response.status} ${await response.text()}`);
}
