import type { ChatMessage } from '#platform/contracts';
import { expect, it } from 'vitest';
import { toolMessage, withinImageLimit } from './server-tool.js';

const image = { url: 'data:image/png;base64,AA==' };

it('shows the images of a result to a model that sees, and to no other', () => {
  const outcome = { output: 'Here.', images: [image] };
  expect(toolMessage(outcome, 'c', true)).toEqual({
    role: 'tool',
    content: 'Here.',
    toolCallId: 'c',
    images: [image],
  });
  expect(toolMessage(outcome, 'c', false)).not.toHaveProperty('images');
});

it('shows no more images than a request may have, counting those of the user first', () => {
  const user: ChatMessage = { role: 'user', content: '', images: Array.from({ length: 30 }, () => image) };
  const results = ['a', 'b', 'c'].map((id) => toolMessage({ output: id, images: [image] }, id, true));
  const shown = withinImageLimit([...results, user]);
  expect(shown.map(({ images }) => images?.length ?? 0)).toEqual([1, 1, 0, 30]);
});
