import { describe, expect, it } from 'vitest';
import { smallTalkTopic } from './small-talk-topic.js';

describe('smallTalkTopic', () => {
  it.each([
    ['Hello', 'greeting'],
    ['Hi there!', 'greeting'],
    ['hey', 'greeting'],
    ['Good morning, everyone.', 'greeting'],
    ['Thanks!', 'thanks'],
    ['thank you very much', 'thanks'],
    ['Great, thanks for your help', 'thanks'],
    ['Thanks, that was helpful!', 'thanks'],
    ['Danke schön!', 'thanks'],
    ['ok', 'assent'],
    ['Alles klar', 'assent'],
    ['You are wrong.', 'complaint'],
    ["That's not true", 'complaint'],
    ['Sorry, never mind.', 'withdrawal'],
    ['Can you help me with something?', 'offer'],
    ['Good morning, can you help me?', 'offer'],
    ['Bye', 'farewell'],
    ['Thanks, bye!', 'farewell'],
    ['Perfect. Thank you!', 'thanks'],
    ['How are you today?', 'well-being'],
    ['Who are you?', 'identity'],
    ['What is your name?', 'identity'],
    ["What's your name?", 'identity'],
    ['Are you a bot?', 'identity'],
    ['What can you do?', 'ability'],
    ['Hello, what can you do for me?', 'ability'],
    ['help', 'ability'],
    ['Which documents do you have?', 'ability'],
  ])('%s is %s', (message, topic) => {
    expect(smallTalkTopic(message)).toBe(topic);
  });

  it.each([
    'Hello, when does the office open?',
    'What is the name of the engine?',
    'Who is the president?',
    'What does hello mean?',
    'What can the gateway do?',
    'Thanks to whom was it built?',
    'Which documents are ingested?',
    'Thanks. When does the office open?',
    'Can you help me with the tank?',
    'Is the right answer yes?',
    'You are wrong about the tank',
    '',
  ])('%j is a question about documents', (message) => {
    expect(smallTalkTopic(message)).toBeUndefined();
  });
});
