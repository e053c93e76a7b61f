import { describe, expect, it } from 'vitest';
import { ragPromptOf } from './rag-prompt.js';

const c = 'The Zebulon tower has 4711 steps.\nAda Quill built the Zebulon tower in 1831.';
const q = 'Who built the Zebulon tower?';
const user = (content: string) => [{ role: 'user', content }];
const system = (rules: string, content: string) => [{ role: 'system', content: rules }, ...user(content)];

const frameworks: readonly [string, { role: string; content: string }[]][] = [
  [
    'OPEA',
    user(
      `\n### You are a helpful, respectful and honest assistant to help the user with questions. Please refer to the search results obtained from the local knowledge base. But be careful to not incorporate the information that you think is not relevant to the question. If you don't know the answer to a question, please don't share false information. \n\n### Search results: ${c} \n\n### Question: ${q} \n\n### Answer:\n`,
    ),
  ],
  [
    'LangChain, tutorial',
    user(`Answer the question based only on the following context:\n${c}\n\nQuestion: ${q}`),
  ],
  [
    'LangChain, rag-prompt',
    user(
      `You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer the question. If you don't know the answer, just say that you don't know. Use three sentences maximum and keep the answer concise.\nQuestion: ${q} \nContext: ${c} \nAnswer:`,
    ),
  ],
  [
    'LangChain, RetrievalQA',
    user(
      `Use the following pieces of context to answer the question at the end. If you don't know the answer, just say that you don't know, don't try to make up an answer.\n\n${c}\n\nQuestion: ${q}\nHelpful Answer:`,
    ),
  ],
  [
    'LangChain, system message',
    system(
      `You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer the question. If you don't know the answer, say that you don't know.\n\n${c}`,
      q,
    ),
  ],
  [
    'LangChain, system message with a label',
    system(
      `Use the given context to answer the question. If you don't know the answer, say you don't know. Context: ${c}`,
      q,
    ),
  ],
  [
    'LlamaIndex',
    user(
      `Context information is below.\n---------------------\n${c}\n---------------------\nGiven the context information and not prior knowledge, answer the query.\nQuery: ${q}\nAnswer: `,
    ),
  ],
  [
    'LlamaIndex, chat',
    system(
      "You are an expert Q&A system that is trusted around the world.\nAlways answer the query using the provided context information, and not prior knowledge.\nSome rules to follow:\n1. Never directly reference the given context in your answer.\n2. Avoid statements like 'Based on the context, ...' or 'The context information ...' or anything along those lines.",
      `Context information is below.\n---------------------\nfile_path: z.txt\n\n${c}\n---------------------\nGiven the context information and not prior knowledge, answer the query.\nQuery: ${q}\nAnswer: `,
    ),
  ],
  [
    'Haystack',
    user(`Given these documents, answer the question.\nDocuments:\n${c}\nQuestion: ${q}\nAnswer:`),
  ],
  [
    'RAGFlow',
    user(
      `You are an intelligent assistant. Please summarize the content of the knowledge base to answer the question.\nHere is the knowledge base:\n${c}\nThe above is the knowledge base.\n\n${q}`,
    ),
  ],
  [
    'RAGFlow, system message',
    system(
      `You are an intelligent assistant. Please summarize the content of the knowledge base to answer the question. When all knowledge base content is irrelevant to the question, your answer must include the sentence "The answer you are looking for is not found in the knowledge base!"\n      Here is the knowledge base:\n      ${c}\n      The above is the knowledge base.`,
      q,
    ),
  ],
  [
    'Open WebUI',
    user(
      `### Task:\nRespond to the user query using the provided context, incorporating inline citations in the format [id].\n\n<context>\n<source id="1" name="z.txt">${c}</source>\n</context>\n\n<user_query>\n${q}\n</user_query>`,
    ),
  ],
  ['numbered results', user(`### Search results: [1] ${c}\n### Question: ${q}\n### Answer:`)],
  [
    'tags of several documents',
    user(
      `Answer the question using the documents.\n<documents>\n<document index="1">\n<source>z.txt</source>\n<document_content>\n${c}\n</document_content>\n</document>\n</documents>\n\n${q}`,
    ),
  ],
  ['the question first', user(`${q}\n\nAnswer with the help of the following passages:\n\n${c}`)],
  [
    'triple quotes',
    user(`Use the context in triple quotes to answer.\nContext:\n"""\n${c}\n"""\nQuestion: ${q}`),
  ],
  [
    'a fence',
    user(
      `Answer the user's question from the text in the code block. The source text:\n\`\`\`text\n${c}\n\`\`\`\n\n${q}`,
    ),
  ],
  [
    'Markdown headings',
    user(
      `# Instructions\nYou answer questions with the provided documents only.\n\n# Context\n${c}\n\n# Question\n${q}\n\n# Answer`,
    ),
  ],
  [
    'bold labels',
    user(
      `Please respond to the question based on the sources.\n\n**Sources:**\n${c}\n\n**User question:** ${q}`,
    ),
  ],
  [
    'XML in a system message',
    system(
      `You are a helpful assistant. Answer from the context only.\n<context>\n${c}\n</context>\nIf the context lacks the answer, reply "Not found."`,
      q,
    ),
  ],
  [
    'the tag of the question first',
    user(`<question>${q}</question>\n<search_results>\n${c}\n</search_results>\nAnswer the question.`),
  ],
  ['labels alone', user(`Context: ${c}\n\nQuestion: ${q}\n\nAnswer:`)],
  [
    'rules after the question',
    user(
      `Retrieved documents:\n${c}\n\nQuestion: ${q}\n\nAnswer in one sentence. Do not use other knowledge than the documents.`,
    ),
  ],
];

describe('ragPromptOf', () => {
  it.each(frameworks)('finds the question and the context: %s', (_name, messages) => {
    const found = ragPromptOf(messages);
    expect(found?.question).toBe(q);
    expect(found?.passages.map(({ text }) => text).join('\n')).toBe(c);
  });

  it('finds them in the last of several turns', () => {
    const before = [...user('Hello'), { role: 'assistant', content: 'Hello!' }];
    for (const [, messages] of frameworks) expect(ragPromptOf([...before, ...messages])?.question).toBe(q);
  });

  it.each([
    [
      'tags',
      `<context>\n<source id="3">Tea.</source>\n<source id="7">Coffee.</source>\n</context>`,
      ['3', '7'],
    ],
    [
      'tags without one around them',
      `<source id="a">Tea.</source>\n<source id="b">Coffee.</source>`,
      ['a', 'b'],
    ],
    ['brackets', 'Context:\n[1] Tea.\n[2] Coffee.', ['1', '2']],
    ['names', 'Context:\nSource 1:\nTea.\n\nSource 2:\nCoffee.', ['1', '2']],
    ['names with brackets', 'Context:\nDocument [4] (Title: x): Tea.\nDocument [5]: Coffee.', ['4', '5']],
    ['a list', 'Context:\n1. Tea.\n2. Coffee.', ['1', '2']],
    ['dashes', 'Context:\nTea.\n---\nCoffee.', [undefined, undefined]],
  ])('keeps the ids of passages: %s', (_name, context, ids) => {
    const found = ragPromptOf(
      user(
        `Answer the question with the context and cite the ids of the sources as [id].\n\n${context}\n\nQuestion: What is it?`,
      ),
    );
    expect(found?.passages.map(({ id }) => id)).toEqual(ids);
    expect(found?.passages.map(({ text }) => text)).toEqual(['Tea.', 'Coffee.']);
    expect(found?.asksForCitations).toBe(true);
  });

  it.each([
    ["If you don't know the answer, just say that you don't know.", "I don't know."],
    [
      'If the context does not contain the answer, reply with "Not in the documents."',
      'Not in the documents.',
    ],
    ["If you cannot answer, say 'No idea'.", 'No idea'],
    ['Be short.', undefined],
  ])('follows the instruction for a refusal: %s', (rule, refusal) => {
    const found = ragPromptOf(user(`Answer from the context. ${rule}\n\nContext:\n${c}\n\nQuestion: ${q}`));
    expect(found?.refusal).toBe(refusal);
    expect(found?.asksForCitations).toBe(false);
  });

  it.each([
    'What is the context of this sentence?',
    'Who built the Zebulon tower?',
    'Answer the question: what is 2 + 2?',
    'Write a poem about the following text:\n\nThe tower is tall.',
    'Summarize the following document:\n\nThe tower is tall.\nIt has steps.',
    'Translate the following context to German:\n\nThe tower is tall.',
    'Write five questions about the following text:\n\nThe tower is tall. Why is it tall?',
    'Here is my parser:\n```ts\nconst documents: string[] = [];\n```\nWhy does it fail?',
    'My log:\n---\nresult: 4\nquery: select 1\n---\nWhat is wrong?',
    'Please answer my mail:\n\nDear Ada, which documents do you need? Kind regards',
    'Question: What is tea?\nAnswer:',
    'I read the article below. It was good.\n\nThe tower is tall.\n\nDo you like it?',
  ])('leaves other messages as they are: %s', (message) => {
    expect(ragPromptOf(user(message))).toBeUndefined();
    expect(
      ragPromptOf(system('You are a helpful assistant. Answer questions from the documents.', message)),
    ).toBeUndefined();
  });

  it('leaves a question below general instructions as it is', () => {
    const rules =
      'You are the assistant of MegaNest. Answer the question using the tools and documents that you have.\n\nBe short. Use Markdown.';
    expect(ragPromptOf(system(rules, q))).toBeUndefined();
  });

  it('takes no more than a moment for a long text', () => {
    const started = performance.now();
    for (const part of [
      '<context> ',
      'the context: ',
      '- - ---\n',
      'Question: a ',
      'a a a a a a ',
      '[1] ',
      ' \n',
      '# ',
    ])
      ragPromptOf(user(part.repeat(100_000 / part.length)));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
