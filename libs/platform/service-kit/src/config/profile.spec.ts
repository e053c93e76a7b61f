import { describe, expect, it } from 'vitest';
import { loadProfile } from './profile.js';

describe('loadProfile', () => {
  it.each(['bundled', 'hub', 'hub-small', 'hub-large'])('reads the %s profile', (name) => {
    const profile = loadProfile(name);
    expect(profile.llm.grounding.userPrompt).toContain('{question}');
    expect(profile.llm.grounding.userPrompt).toContain('{context}');
  });

  it('lets only the profiles of the hub reach it', () => {
    expect(loadProfile('bundled').allowHub).toBe(false);
    expect(loadProfile('hub').allowHub).toBe(true);
  });

  it('lists the profiles when the name is unknown', () => {
    expect(() => loadProfile('cloud')).toThrow(
      /MEGANEST_PROFILE: .*"cloud".*bundled, hub-large, hub-small, hub/,
    );
  });
});
