import { expect, it } from 'vitest';
import { modelObject } from './models.js';

it.each([
  ['llm', 'chat', 'completion_chat'],
  ['embedding', 'embedding', 'embeddings'],
  ['reranking', 'rerank', 'rerank'],
  ['asr', 'stt', 'audio_transcription'],
  ['tts', 'tts', 'audio_speech'],
])('offers only chat models to chat clients: %s', (service, type, capability) => {
  const { type: listed, capabilities, info } = modelObject({ id: 'm', service, callsTools: false });
  const abilities = Object.entries(capabilities as Record<string, boolean>);
  expect(listed).toBe(type);
  expect(abilities.filter(([, has]) => has)).toEqual([[capability, true]]);
  // Open WebUI leaves out the models with this mark.
  expect(info).toEqual(service === 'llm' ? undefined : { meta: { hidden: true } });
});

it('names the abilities of a language model', () => {
  const { capabilities } = modelObject({ id: 'm', service: 'llm', modalities: ['text', 'image'] });
  expect(capabilities).toMatchObject({ completion_chat: true, function_calling: true, vision: true });
});
