const topics = ['Amber', 'Basalt', 'Cobalt', 'Dolomite', 'Emerald', 'Feldspar', 'Garnet', 'Hematite'];

/** Questions, each with its answer in a document of {@link ingestSample}. */
export const questions = topics.map((topic) => `How many days of vacation does the ${topic} office give?`);

/** Ingests the documents of the questions through a gateway. Throws if the gateway does not succeed. */
export async function ingestSample(gatewayUrl: string): Promise<void> {
  const form = new FormData();
  for (const [index, topic] of topics.entries()) {
    const text = `# ${topic} office\n\nThe ${topic} office gives ${20 + index} days of vacation a year. It opens at ${7 + (index % 3)} am.`;
    form.append('files', new Blob([text]), `${topic}.md`);
  }
  const answer = await fetch(`${gatewayUrl}/v1/dataprep/ingest`, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`ingest: ${answer.status} ${await answer.text()}`);
}
