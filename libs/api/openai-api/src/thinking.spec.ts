import { describe, expect, it } from 'vitest';
import { planThinking } from './thinking.js';

describe('planThinking', () => {
  it('names the variables that the template does not read', () => {
    const request = { chatTemplateKwargs: { enable_thinking: true, frob: 1 } };
    expect(planThinking(request, { templateVariables: ['enable_thinking'] }).ignored).toEqual([
      'chat_template_kwargs.frob',
    ]);
    expect(planThinking(request, { templateVariables: [] }).ignored).toHaveLength(2);
    expect(planThinking(request, {}).ignored).toEqual([]);
  });

  it('turns an effort into the variables that the template reads', () => {
    const request = { reasoningEffort: { value: 'none', field: 'reasoning_effort' } };
    expect(planThinking(request, { templateVariables: ['enable_thinking'] })).toEqual({
      kwargs: { enable_thinking: false },
      ignored: [],
    });
  });
});
