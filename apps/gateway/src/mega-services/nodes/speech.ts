import { transcribe, type ChatMessage, invalidField } from '#contracts';
import { conversationOf, questionOf, type Conversation, type NodeCall } from '../mega-service-request.js';

/**
 * What is said in the request's files becomes the last thing that the user says. A request without files goes on as it
 * is, so that a question may be typed too.
 */
export async function callTranscribe(call: NodeCall): Promise<Conversation> {
  const { context, request } = call;
  const { messages, query } = conversationOf(call);
  const files = request.files ?? [];
  if (files.length === 0 && query.trim() !== '') return { messages, query };
  if (files.length === 0) {
    throw invalidField('audio', 'send a file in base64, or a form with files');
  }
  const texts: string[] = [];
  for (const file of files) {
    for await (const { audio, segment } of call.client.stream(
      transcribe,
      { ...context.parameters, file },
      call.options,
    )) {
      if (audio) context.report({ model: audio.model, language: audio.language, seconds: audio.seconds });
      if (segment) texts.push(segment.text);
    }
  }
  const said = texts.join(' ');
  if (!said) {
    throw invalidField('audio', 'no speech was heard in it');
  }
  const spoken = withSpoken(messages, said);
  return { messages: spoken, query: questionOf(spoken) };
}

/** Behind what was typed beside the audio, or as a turn of its own. */
function withSpoken(messages: readonly ChatMessage[], said: string): ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: said }];
  const content = [last.content, said].filter(Boolean).join('\n');
  return [...messages.slice(0, -1), { ...last, content }];
}
